"""Puts the page cache into the same state before every trial."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from iostudy.units import MIB
from iostudy.workloads.page_cache import forget

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
_ALL = "3"
"""The page cache, directory entries and inodes: opening a file is part of reading it."""


def write_out() -> None:
    """Write every dirty page of the machine, so that none is written during the trial.

    sync(2) waits on Linux until all is on the devices, also on those of other file systems.
    """
    os.sync()


def drop(directories: Sequence[Path]) -> str:
    """Drop the page cache, directory entries and inodes; a note that says how.

    All of them where that may be done (Documentation/admin-guide/sysctl/vm.rst, drop_caches);
    otherwise by posix_fadvise(2) the pages of the files in ``directories``, which the kernel heeds
    for clean pages. Root alone does not tell: containers mount /proc/sys read only.
    """
    try:
        DROP_CACHES.write_text(_ALL)
    except OSError:
        for directory in directories:
            forget(directory)
        return "page cache of its files dropped before every trial that reads, by posix_fadvise"
    return f"page cache, names and inodes dropped before every trial that reads, by {DROP_CACHES}"


def read_in(files: Iterable[Path]) -> None:
    """Bring files into the page cache, as far as they can be read.

    For programs that are started within a trial: where all was dropped they would be read from a
    disk then, which may be the one under test.
    """
    chunk = bytearray(MIB)
    for path in files:
        with suppress(OSError), path.open("rb", buffering=0) as file:
            while file.readinto(chunk):
                pass
