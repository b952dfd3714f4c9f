"""Drops single files from the page cache without root."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from iostudy.safe_path import closing


def drop_folder(directory: Path) -> None:
    """Drop the page cache of every file below ``directory``, by posix_fadvise(2).

    The kernel drops clean pages only. Symbolic links are not followed.
    """
    for folder, _, names in os.walk(directory):
        for name in names:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                with suppress(FileNotFoundError):  # a DataNode moves its files about
                    drop_file(path)


def drop_file(path: Path) -> None:
    """Drop the page cache of one file."""
    # The owner of the folder may put a FIFO or a link in its place.
    with closing(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)) as descriptor:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
