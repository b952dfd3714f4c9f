"""Definition of the read-ahead of mounts without a block device."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings.definition import Reach, SettingDefinition, Switching
from iostudy.settings.values import Integer

_SWITCHING = Switching("an open file keeps the read-ahead of its opening")


@dataclass(frozen=True, kw_only=True)
class BdiDefinition(SettingDefinition):
    """A setting that is the file ``attribute`` below ``/sys/class/bdi/NAME``."""

    attribute: str
    reach: Reach = Reach.MOUNT
    switching: Switching = _SWITCHING


READ_AHEAD = BdiDefinition(
    name="bdi.read_ahead_kb",
    attribute="read_ahead_kb",
    unit="KiB",
    default="128; btrfs 4096; NFS by its read size until Linux 5.4",
    documentation=(
        "Read-ahead of the page cache on mounts without a block device, such as NFS or FUSE, and "
        "on btrfs, which ignores that of its disks. In whole pages; 0 turns it off. All mounts of "
        "the same file system share it. A FUSE server may request less."
    ),
    source="Documentation/ABI/testing/sysfs-class-bdi (read_ahead_kb); mm/backing-dev.c",
    values=Integer(0, 1 << 20, "KiB", step=4),
    caution="files that are already open keep the previous value",
)
DEFINITIONS = (READ_AHEAD,)
