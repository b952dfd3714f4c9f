"""Touches free memory before a trial, so that the host need not fault it in during the trial."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

from iostudy.units import KIB, MIB

_MEMINFO = Path("/proc/meminfo")
_CHUNK_BYTES = 64 * MIB
_RESERVE = 0.1
"""Share of the free memory that stays untouched, so that nothing is reclaimed or killed for it."""


def touch_free_memory(most_bytes: int) -> int:
    """Write to up to ``most_bytes`` of the free memory and free it again; return the bytes.

    A guest with free page reporting gives memory back to the host that was free for two seconds
    (Documentation/mm/free_page_reporting.rst). The kernel allocates again first what was freed
    last, so the pages that a trial needs first are those touched here.
    """
    wanted, chunks = min(most_bytes, int(_free_bytes() * (1 - _RESERVE))), list[mmap.mmap]()
    try:
        while sum(map(len, chunks)) + _CHUNK_BYTES <= wanted:
            chunks.append(_touched_chunk())
        return sum(map(len, chunks))
    finally:
        for chunk in chunks:
            chunk.close()


def _touched_chunk() -> mmap.mmap:
    populate = getattr(mmap, "MAP_POPULATE", 0)
    chunk = mmap.mmap(-1, _CHUNK_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | populate)
    chunk[:: os.sysconf("SC_PAGE_SIZE")] = bytes(_CHUNK_BYTES // os.sysconf("SC_PAGE_SIZE"))
    return chunk


def _free_bytes() -> int:
    fields = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines())
    return int(fields["MemFree"].split()[0]) * KIB
