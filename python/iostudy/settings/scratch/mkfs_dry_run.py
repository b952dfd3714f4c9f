"""Dry run of mkfs for a given disk size, without a disk."""

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


def check_mkfs(filesystem: Filesystem, size_bytes: int) -> None:
    """TargetError with the message of mkfs if it rejects a disk of that size.

    Limits differ between versions (mkfs.xfs needs at least 300 MB since xfsprogs 5.19), so the
    installed mkfs runs on a sparse file in memory.
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
                found=commands.format_complaint(error),
                where="the target",
                remedy="use a larger size, or options that this mkfs accepts together",
            ) from error
