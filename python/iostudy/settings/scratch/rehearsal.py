"""Whether a file system can be made on a disk of a size, without such a disk."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Final

from iostudy import units
from iostudy.errors import TargetError
from iostudy.settings import commands
from iostudy.settings.commands import CommandError
from iostudy.settings.scratch.filesystem import Filesystem

_WITHOUT_MAKING: Final = {"ext2": "-n", "ext3": "-n", "ext4": "-n", "xfs": "-N"}
"""The option to do everything but write: mke2fs(8), mkfs.xfs(8). mkfs.btrfs(8) has none."""


def require_makeable(filesystem: Filesystem, size_bytes: int) -> None:
    """TargetError with the maker's complaint if it would not make it on a disk of that size.

    Its limits differ between versions (mkfs.xfs takes no less than 300 MB since xfsprogs 5.19), so
    the one that is installed is asked, on a file in memory that holds nothing and stays so.
    """
    without_making = _WITHOUT_MAKING.get(filesystem.type)
    if without_making is None:
        return
    with closing(os.fdopen(os.memfd_create("iostudy"), "wb")) as disk:
        os.ftruncate(disk.fileno(), size_bytes)
        path = f"/proc/{os.getpid()}/fd/{disk.fileno()}"
        try:
            commands.run(*filesystem.command(), without_making, path)
        except CommandError as error:
            raise TargetError(
                f"a disk of {units.format_size(size_bytes)} with {filesystem.describe()}",
                found=commands.complaint(error),
                where="the target",
                remedy="give a larger size, or what this mkfs takes together",
            ) from error
