"""The options of a mount and of its file system that can be changed by a remount."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings import mount_options
from iostudy.settings.definition import Cost, Reach, SettingDefinition, Switching
from iostudy.settings.mount_options import OptionText
from iostudy.settings.values import Choice, Integer

_WITH_BARRIER = ("ext3", "ext4", "btrfs")
_SWITCH = Choice(("on", "off"))
_MOUNT_8 = "mount(8)"
_PROC_SUPER = "fs/proc_namespace.c"

_SWITCHING = Switching("a remount waits for write-back, and open files keep some options")


@dataclass(frozen=True, kw_only=True)
class MountDefinition(SettingDefinition):
    """A setting of a mount or of its file system."""

    reach: Reach = Reach.MOUNT
    switching: Switching = _SWITCHING
    cost: Cost = Cost.REMOUNT


@dataclass(frozen=True, kw_only=True)
class MountSettingDefinition(MountDefinition):
    """One option, by its key; see `iostudy.settings.mount_options`.

    ``filesystems`` are the types that obey it at a remount; None: all.
    """

    attribute: str
    filesystems: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class MountOptionsDefinition(MountDefinition):
    """Several options of any kind as one level."""

    def matches(self, wanted: str, found: str) -> bool:
        """Return whether the actual options include every expected one."""
        expected, actual = (mount_options.parse_values(text.split(",")) for text in (wanted, found))
        return expected.items() <= actual.items()


ATIME = MountSettingDefinition(
    name="mount.atime",
    attribute=mount_options.ATIME,
    cost=Cost.CHEAP,
    default="relatime (since Linux 2.6.30)",
    documentation=(
        "Whether a read updates the access time of a file: noatime never, strictatime always, "
        "relatime only if the old time is before the last change or more than a day ago. It "
        "belongs to the mount: other mounts of the same file system can differ. "
        "/proc/self/mountinfo shows strictatime by the absence of the other two."
    ),
    source=f"{_MOUNT_8} (atime, noatime, relatime, strictatime); {_PROC_SUPER}",
    values=Choice(mount_options.ATIMES),
)
NODIRATIME = MountSettingDefinition(
    name="mount.nodiratime",
    attribute=mount_options.NODIRATIME,
    cost=Cost.CHEAP,
    default="off",
    documentation=(
        "Whether reading a directory does not update its access time. It has no effect under "
        "noatime, which updates no access times."
    ),
    source=f"{_MOUNT_8} (nodiratime)",
    values=_SWITCH,
)
LAZYTIME = MountSettingDefinition(
    name="mount.lazytime",
    attribute="lazytime",
    default="off",
    documentation=(
        "Whether the kernel keeps file times in memory, and writes them with the next other "
        "change of the inode, with fsync, or after a day (vm.dirtytime_expire_seconds). Since "
        "Linux 4.0."
    ),
    source=f"{_MOUNT_8} (lazytime); {_PROC_SUPER}",
    caution="a power failure loses the times of files without other changes",
    values=_SWITCH,
)
COMMIT = MountSettingDefinition(
    name="mount.commit",
    attribute="commit",
    filesystems=_WITH_BARRIER,
    unit="s",
    default="5 on ext4 and ext3, 30 on btrfs; xfs has no such option",
    documentation=(
        "Interval at which the file system makes its metadata durable (and on ext4 with "
        "data=ordered the data that belong to it). A longer interval means fewer and larger "
        "journal writes."
    ),
    source="ext4(5) (commit=nrsec); btrfs(5) (commit=SECONDS)",
    caution="a power failure loses what was written within this interval without a sync",
    values=Integer(1, 86_400, "s"),
)
BARRIER = MountSettingDefinition(
    name="mount.barrier",
    attribute="barrier",
    filesystems=_WITH_BARRIER,
    default="on for ext4 and btrfs; xfs has had no such option since Linux 4.19",
    documentation=(
        "Whether the file system flushes the device's write cache where its journal requires it. "
        "The cost is that of the device's cache flush."
    ),
    source="ext4(5) (barrier); btrfs(5) (barrier); Documentation/admin-guide/ext4.rst",
    caution=(
        "without barriers a power failure can destroy the file system, unless every cache above "
        "the medium is protected"
    ),
    values=_SWITCH,
)
DISCARD = MountSettingDefinition(
    name="mount.discard",
    attribute="discard",
    default="off on ext4 and xfs; async on btrfs where the device can discard (since Linux 6.2)",
    documentation=(
        "Whether the file system discards free blocks immediately. async, on btrfs only, discards "
        "them later in batches. xfs accepts a remount with it but changes nothing."
    ),
    source="ext4(5) (discard); xfs(5) (discard); btrfs(5) (discard)",
    values=Choice(("on", "off", "async")),
)
DATA = MountSettingDefinition(
    name="mount.data",
    attribute="data",
    filesystems=(),
    default="ordered",
    documentation=(
        "Handling of data by the ext4 journal: ordered writes data before their metadata, journal "
        "writes data to the journal too, writeback does neither. No kernel changes it at a "
        "remount: to compare modes, use filesystem.options on a new file system."
    ),
    source="ext4(5) (data=); Documentation/admin-guide/ext4.rst; fs/ext4/super.c",
    caution="with writeback, files can contain old disk blocks after a power failure",
    values=Choice(("ordered", "writeback", "journal")),
)
OPTIONS = MountOptionsDefinition(
    name="mount.options",
    default="those of /etc/fstab and of the file system",
    documentation=(
        "Any other options, separated by commas, as one level: discard,commit=60. A read shows "
        "all options in force, including known defaults. iostudy sets an option only if the file "
        "system shows its value or documents its default; otherwise iostudy could not restore it."
    ),
    source=f"{_MOUNT_8}; ext4(5); xfs(5); btrfs(5); tmpfs(5)",
    caution="iostudy does not know the effects of an option that it has no definition for",
    values=OptionText(),
)
DEFINITIONS = (ATIME, NODIRATIME, LAZYTIME, COMMIT, BARRIER, DISCARD, DATA, OPTIONS)
