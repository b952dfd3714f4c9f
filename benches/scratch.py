"""Place to measure in: a separate disk for root, a folder for other users."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iostudy.node import caches
from iostudy.settings.scratch.disk import LoopbackDisk
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import NewFilesystem
from iostudy.settings.transaction.transaction import Transaction


@contextmanager
def scratch_folder(size_bytes: int, parent: Path | None = None) -> Iterator[Path]:
    """A folder below ``parent``, or the current one; for root on a loop-back disk with ext4."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-", dir=parent or Path.cwd()) as name,
        Transaction() as made,
    ):
        if os.geteuid() != 0:
            yield Path(name)
            return
        (disk,) = LoopbackDisk.prepare(Path(name), size_bytes)
        made.apply(disk)
        made.apply(NewFilesystem.prepare(disk, Filesystem("ext4")))
        yield disk.mount_point


def settle(folder: Path) -> None:
    """Write out what is dirty, and let the page cache forget what is read next."""
    caches.write_dirty_pages()
    caches.drop_caches([folder])
