"""Puts the page cache into the same state before every trial."""

from __future__ import annotations

import os
from pathlib import Path

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
_PAGE_CACHE = "1"


def write_out() -> None:
    """Write every dirty page of the machine, so that none is written during the trial.

    sync(2) waits on Linux until all is on the devices, also on those of other file systems.
    """
    os.sync()


def drop(directory: Path) -> str:
    """Drop the page cache; a note that says how.

    As root all of it (Documentation/admin-guide/sysctl/vm.rst, drop_caches); otherwise by
    posix_fadvise(2) that of the files below ``directory``, which the kernel heeds for clean pages.
    """
    if os.geteuid() == 0:
        DROP_CACHES.write_text(_PAGE_CACHE)
        return f"page cache dropped before every trial that reads, by {DROP_CACHES}"
    for path in directory.iterdir():
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
    return "page cache dropped before every trial that reads, by posix_fadvise (not root)"
