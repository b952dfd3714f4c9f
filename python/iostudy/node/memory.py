"""First touch of free memory before a trial, so that no trial waits for the host to provide it."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from iostudy.host.files import read_attribute
from iostudy.units import KIB, MIB, format_rounded_size

_MEMINFO = Path("/proc/meminfo")
_CHUNK_BYTES = 64 * MIB
_MOST = 0.9
"""Share of the free memory that is touched at most, so that nothing is reclaimed for it."""


def touch_free_memory(wanted_bytes: int) -> int:
    """Allocate so much of the free memory and free it again; return the bytes.

    0 stands for all of it. A guest with free page reporting gives memory back to the host that was
    free for two seconds (Documentation/mm/free_page_reporting.rst), in huge pages. Huge pages are
    therefore touched: the kernel allocates first what was freed last, so that the trial gets them.
    Without transparent huge pages others may be touched, and the trial gains less.
    """
    limit = int(_free_bytes() * _MOST)
    touched = min(wanted_bytes or limit, limit) // _CHUNK_BYTES
    with ExitStack() as held:
        for chunk in _chunks(touched):
            held.enter_context(closing(chunk))
    return touched * _CHUNK_BYTES


def describe_warm_memory(touched_bytes: int) -> str:
    """Return the note of a trial."""
    return f"{format_rounded_size(touched_bytes)} of free memory touched before the trial"


def _chunks(count: int) -> Iterator[mmap.mmap]:
    for _ in range(count):
        chunk = mmap.mmap(-1, _CHUNK_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        with suppress(OSError):  # a kernel without transparent huge pages
            chunk.madvise(mmap.MADV_HUGEPAGE)
        chunk[:: mmap.PAGESIZE] = bytes(_CHUNK_BYTES // mmap.PAGESIZE)
        yield chunk


def _free_bytes() -> int:
    lines = (read_attribute(_MEMINFO) or "").splitlines()
    free = next((line for line in lines if line.startswith("MemFree:")), "MemFree: 0 kB")
    return int(free.split()[1]) * KIB
