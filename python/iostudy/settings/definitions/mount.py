"""The options of a mount and of its file system that can be changed by a remount."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings.definition import Cost, Reach, SettingDefinition
from iostudy.settings.mounting import options as mount_options
from iostudy.settings.mounting.options import OptionText
from iostudy.settings.values import Choice, Whole

_SWITCH = Choice(("on", "off"))
_MOUNT_8 = "mount(8)"
_PROC_SUPER = "fs/proc_namespace.c"


@dataclass(frozen=True, kw_only=True)
class MountDefinition(SettingDefinition):
    """What can be set of a mount or of its file system."""

    reach: Reach = Reach.MOUNT
    cost: Cost = Cost.REMOUNT


@dataclass(frozen=True, kw_only=True)
class MountSettingDefinition(MountDefinition):
    """One option, by its key; see `iostudy.settings.mounting.options`."""

    attribute: str


@dataclass(frozen=True, kw_only=True)
class MountOptionsDefinition(MountDefinition):
    """Several options of any kind as one level."""

    def met(self, wanted: str, found: str) -> bool:
        """Whether every option wanted is among those found."""
        asked, there = (mount_options.values_of(text.split(",")) for text in (wanted, found))
        return asked.items() <= there.items()


ATIME = MountSettingDefinition(
    name="mount.atime",
    attribute=mount_options.ATIME,
    cost=Cost.CHEAP,
    default="relatime (since Linux 2.6.30)",
    documentation=(
        "When reading a file also writes down the time of it: noatime never, strictatime always, "
        "relatime only where the old time is before the last change or more than a day ago. It "
        "belongs to the mount: another mount of the same file system can have another. "
        "/proc/self/mountinfo shows strictatime by the absence of both others."
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
        "Whether reading a directory leaves its access time alone. Under noatime it changes "
        "nothing, since no access time is written at all."
    ),
    source=f"{_MOUNT_8} (nodiratime)",
    values=_SWITCH,
)
LAZYTIME = MountSettingDefinition(
    name="mount.lazytime",
    attribute="lazytime",
    default="off",
    documentation=(
        "Whether times of files are kept in memory, and written with the next other change of the "
        "inode, with fsync, or after a day (vm.dirtytime_expire_seconds). Since Linux 4.0."
    ),
    source=f"{_MOUNT_8} (lazytime); {_PROC_SUPER}",
    caution="the times of files that only they have changed for are lost if the power fails",
    values=_SWITCH,
)
COMMIT = MountSettingDefinition(
    name="mount.commit",
    attribute="commit",
    unit="s",
    default="5 on ext4 and ext3, 30 on btrfs; xfs has no such option",
    documentation=(
        "How often the file system makes its metadata (and on ext4 with data=ordered the data that "
        "belongs to it) durable by itself. Longer means fewer and larger journal writes."
    ),
    source="ext4(5) (commit=nrsec); btrfs(5) (commit=SECONDS)",
    caution="what was written within this time, and not synced, is lost if the power fails",
    values=Whole(1, 86_400, "s"),
)
BARRIER = MountSettingDefinition(
    name="mount.barrier",
    attribute="barrier",
    default="on for ext4 and btrfs; xfs has had no such option since Linux 4.19",
    documentation=(
        "Whether the file system has the device's write cache flushed where its journal needs it. "
        "What it costs is what the device's cache flush costs."
    ),
    source="ext4(5) (barrier); btrfs(5) (barrier); Documentation/admin-guide/ext4.rst",
    caution=(
        "without barriers a power failure can destroy the file system, unless no cache on the way "
        "to the medium can lose what it holds"
    ),
    values=_SWITCH,
)
DISCARD = MountSettingDefinition(
    name="mount.discard",
    attribute="discard",
    default="off on ext4 and xfs; async on btrfs where the device can discard (since Linux 6.2)",
    documentation=(
        "Whether the device is told at once which blocks are free. async, of btrfs alone, gathers "
        "them and tells it later. xfs takes it at a remount but changes nothing."
    ),
    source="ext4(5) (discard); xfs(5) (discard); btrfs(5) (discard)",
    values=Choice(("on", "off", "async")),
)
DATA = MountSettingDefinition(
    name="mount.data",
    attribute="data",
    default="ordered",
    documentation=(
        "What ext4 does with data when its metadata goes to the journal: ordered writes the data "
        "before, journal puts it into the journal too, writeback does neither. No kernel changes "
        "it at a remount: to compare modes, make the file system anew with filesystem.options."
    ),
    source="ext4(5) (data=); Documentation/admin-guide/ext4.rst; fs/ext4/super.c",
    caution="with writeback files can show old content of the disk after a power failure",
    values=Choice(("ordered", "writeback", "journal")),
)
OPTIONS = MountOptionsDefinition(
    name="mount.options",
    default="those of /etc/fstab and of the file system",
    documentation=(
        "Any other options, with commas between them, as one level: discard,commit=60. Read, it "
        "shows all options in force, with the defaults that are known. An option can be set where "
        "the file system shows its value, or has a documented default: else there would be no way "
        "back."
    ),
    source=f"{_MOUNT_8}; ext4(5); xfs(5); btrfs(5); tmpfs(5)",
    caution="what an option of your own does to a file system, iostudy does not know",
    values=OptionText(),
)
DEFINITIONS = (ATIME, NODIRATIME, LAZYTIME, COMMIT, BARRIER, DISCARD, DATA, OPTIONS)
