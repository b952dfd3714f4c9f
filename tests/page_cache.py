"""Size of a file's resident pages in the page cache."""

from __future__ import annotations

import ctypes
import mmap
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)


def resident_pages(path: Path) -> int:
    """By mincore(2)."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        pages = -(-len(mapped) // mmap.PAGESIZE)
        resident = (ctypes.c_ubyte * pages)()
        start = ctypes.c_char.from_buffer(mapped)
        address = ctypes.c_void_p(ctypes.addressof(start))
        assert _LIBC.mincore(address, ctypes.c_size_t(len(mapped)), resident) == 0
        del start  # else the mapping cannot be closed
        return sum(page & 1 for page in resident)
