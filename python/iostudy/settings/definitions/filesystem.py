"""Definitions of mkfs options and of options of the first mount.

A study varies these on a disk that it makes, or whose data it may destroy; every level takes a new
file system. What a study does not vary is as mkfs makes it.
"""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings.definition import Cost, Reach, SettingCondition, SettingDefinition, Switching
from iostudy.settings.mount_options import FirstMountText
from iostudy.settings.values import Choice, Integer, NumberList, PowerOfTwoSize

TYPE = "filesystem.type"
_EXT = ("ext2", "ext3", "ext4")
_PERCENT_MOST = 50
_SMALLEST_BLOCK, _LARGEST_BLOCK = 512, 65536


_SWITCHING = Switching("mkfs needs an unmounted file system")


@dataclass(frozen=True, kw_only=True)
class FilesystemSettingDefinition(SettingDefinition):
    """A property of a file system that stands when it is made, or first mounted."""

    reach: Reach = Reach.DISK
    switching: Switching = _SWITCHING
    cost: Cost = Cost.FORMAT


FILESYSTEM_TYPE = FilesystemSettingDefinition(
    name=TYPE,
    default="that of the study's target",
    documentation=(
        "The file system. ext2 has no journal; ext3 is ext2 with a journal; the ext4 driver "
        "serves both today, without extents and delayed allocation. xfs needs 300 MiB, btrfs 109 "
        "MiB."
    ),
    source="mke2fs(8), mkfs.xfs(8), mkfs.btrfs(8); Documentation/filesystems/ext4",
    values=Choice((*_EXT, "xfs", "btrfs")),
)
BLOCK_SIZE = FilesystemSettingDefinition(
    name="filesystem.block_size",
    unit="B",
    default="4096 (mkfs.ext4 takes 1024 on a very small disk)",
    documentation=(
        "Allocation unit: -b of mke2fs, -b size of mkfs.xfs, -s (sectors) of mkfs.btrfs. ext and "
        "xfs accept 1024 and more, btrfs 4096 and more. A block larger than a memory page needs a "
        "recent kernel (xfs: Linux 6.12)."
    ),
    source="mke2fs(8) -b, mkfs.xfs(8) -b, mkfs.btrfs(8) -s; statvfs(3)",
    values=PowerOfTwoSize(_SMALLEST_BLOCK, _LARGEST_BLOCK),
)
JOURNAL = FilesystemSettingDefinition(
    name="filesystem.journal",
    default="on",
    documentation=(
        "Whether ext4 has a journal; off is -O ^has_journal. After a crash such a file system "
        "needs a full check, and may have lost more data. xfs and btrfs always have a journal or "
        "log."
    ),
    source="ext4(5), has_journal; mke2fs(8) -O",
    condition=SettingCondition(TYPE, ("ext4",)),
    values=Choice(("on", "off")),
)
RESERVED = FilesystemSettingDefinition(
    name="filesystem.reserved",
    unit="%",
    default="5",
    documentation=(
        "Share of the blocks reserved for root: -m of mke2fs. It also keeps the last, most "
        "fragmented free space unused."
    ),
    source="mke2fs(8) -m",
    condition=SettingCondition(TYPE, _EXT),
    values=Integer(0, _PERCENT_MOST, "%"),
)
STRIPE_WIDTH = FilesystemSettingDefinition(
    name="filesystem.stripe_width",
    unit="KiB, and disks",
    default="as the device reports it",
    documentation=(
        "Stripe geometry for the allocator: KiB per disk, then the number of data disks (without "
        "parity or copies), such as 64 4. For ext it becomes stride and stripe_width in blocks, "
        "with blocks of 4096 B unless the study varies filesystem.block_size; for xfs it becomes "
        "su and sw."
    ),
    source="mke2fs(8) -E stride, stripe_width; mkfs.xfs(8) -d su, sw; xfs(5) sunit, swidth",
    condition=SettingCondition(TYPE, (*_EXT, "xfs")),
    values=NumberList(2, Integer(1, 1 << 20)),
)
OPTIONS = FilesystemSettingDefinition(
    name="filesystem.options",
    default="nodev and nosuid, which are always set",
    documentation=(
        "Options of the first mount of a new file system, separated by commas, for options that a "
        "remount refuses, such as data=writeback. The level `as-found` has none of them: it is the "
        "baseline to compare with. iostudy records the options that the kernel shows with every "
        "trial; a contradiction is an error."
    ),
    source="mount(8) -o; ext4(5), xfs(5), btrfs(5); Documentation/filesystems",
    caution="data=writeback, nobarrier and similar options can lose data at a power failure",
    values=FirstMountText("data=writeback,nobarrier"),
)
DEFINITIONS = (FILESYSTEM_TYPE, BLOCK_SIZE, JOURNAL, RESERVED, STRIPE_WIDTH, OPTIONS)
