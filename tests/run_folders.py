"""Folders of temporary files in which a process of the tests holds a lock while it runs.

The kernel releases the lock when the process ends, also when it is killed. So a folder with a free
lock is left from an ended run, and so are its mounts, loop devices and journals.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

LOCK = "run.lock"
PREFIX = "iostudy-tests-"
"""Beginning of the names of such folders outside of pytest's."""


@contextmanager
def locked_folder() -> Iterator[Path]:
    """A new folder with the lock of this process."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name, lock(Path(name)):
        yield Path(name)


def lock(folder: Path) -> IO[str]:
    """Hold the lock of a folder until the file that is returned is closed."""
    new = folder / f"{LOCK}.new"
    file = new.open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    new.rename(folder / LOCK)  # nobody sees the lock while it is free
    return file


def has_ended(folder: Path) -> bool:
    """Whether processes of this user have run tests there, and none of them is left."""
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
            return False
        locks = find_locks(folder)
        return bool(locks) and all(map(_is_free, locks))
    except FileNotFoundError:  # its process has removed it meanwhile
        return False


def find_locks(folder: Path) -> list[Path]:
    """Return the locks of a folder and of its workers."""
    return [*folder.glob(LOCK), *folder.glob(f"*/{LOCK}")]


def _is_free(lock: Path) -> bool:
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
