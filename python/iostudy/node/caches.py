"""Control of the page cache and first touch of free memory before every trial."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from iostudy.account import Account, act_as
from iostudy.host.inventory import read_memory_bytes
from iostudy.units import MIB
from iostudy.workloads.page_cache import drop_folder

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
_ALL = "3"
"""Page cache, dentries and inodes: opening a file is part of reading it."""


def write_dirty_pages() -> None:
    """Write every dirty page of the machine, so that none is written during the trial.

    On Linux sync(2) waits for all file systems.
    """
    os.sync()


def drop_caches(directories: Sequence[Path], account: Account | None = None) -> str:
    """Drop the page cache, dentries and inodes; return a note on the method.

    All of them where that is permitted (Documentation/admin-guide/sysctl/vm.rst, drop_caches);
    otherwise the clean pages of the files in ``directories``, by posix_fadvise(2). Root does not
    suffice: containers mount /proc/sys read-only. The files are opened as ``account``.
    """
    try:
        DROP_CACHES.write_text(_ALL, "ascii")
    except OSError:
        with act_as(account):
            for directory in directories:
                drop_folder(directory)
        return "page cache of its files dropped before every trial that reads, by posix_fadvise"
    return f"page cache, names and inodes dropped before every trial that reads, by {DROP_CACHES}"


def preload_files(files: Iterable[Path]) -> None:
    """Read files into the page cache, if they are readable.

    Programs that start during a trial would otherwise be read from a disk, possibly the one under
    test.
    """
    chunk = bytearray(MIB)
    for path in files:
        with suppress(OSError), path.open("rb", buffering=0) as file:
            while file.readinto(chunk):
                pass


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
    limit = int((read_memory_bytes("MemFree") or 0) * _MOST)
    touched = min(wanted_bytes or limit, limit) // _CHUNK_BYTES
    with ExitStack() as held:
        for chunk in _chunks(touched):
            held.enter_context(closing(chunk))
    return touched * _CHUNK_BYTES


def _chunks(count: int) -> Iterator[mmap.mmap]:
    for _ in range(count):
        chunk = mmap.mmap(-1, _CHUNK_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        with suppress(OSError):  # a kernel without transparent huge pages
            chunk.madvise(mmap.MADV_HUGEPAGE)
        chunk[:: mmap.PAGESIZE] = bytes(_CHUNK_BYTES // mmap.PAGESIZE)
        yield chunk
