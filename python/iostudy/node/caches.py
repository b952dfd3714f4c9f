"""Control of the page cache before every trial."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from iostudy.account import Account, act_as
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
