"""Current values of mount options, including undisplayed defaults.

A file system shows only options that differ from their defaults. ext4 lists all of them in a
separate file. For others, documented defaults apply; the remaining options are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from iostudy.errors import TargetError
from iostudy.host import stack
from iostudy.host.files import ROOT, read_attribute
from iostudy.host.mounts import Mount
from iostudy.settings.mount_options import OFF, ON, parse_values

_COMMON_DEFAULTS = {"sync": OFF, "lazytime": OFF}
"""Shown where they are set: fs/proc_namespace.c."""

_EXT4 = {"commit": "5", "barrier": ON, "discard": OFF}
_DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "ext4": _EXT4,  # ext4(5); for kernels that have no /proc/fs/ext4/DEVICE/options
    "ext3": {"commit": "5"},  # ext3(5); whether with barriers, no two kernels agree
    "xfs": {"discard": OFF},  # xfs(5)
    "btrfs": {  # btrfs(5), "BTRFS SPECIFIC MOUNT OPTIONS"
        "commit": "30",
        "barrier": ON,
        "discard": OFF,
        "acl": ON,
        "autodefrag": OFF,
        "compress": "no",
        "datacow": ON,
        "datasum": ON,
        "flushoncommit": OFF,
        "metadata_ratio": "0",
        "treelog": ON,
    },
}


def read_values(mount: Mount, disk: str) -> dict[str, str]:
    """Read every known option of the file system; ``disk`` is the device below."""
    shown = parse_values(mount.super_options)
    listed = read_attribute(ROOT / "proc/fs/ext4" / disk / "options") if disk else None
    documented = _COMMON_DEFAULTS | dict(_DEFAULTS.get(mount.filesystem, {}))
    return documented | parse_values((listed or "").split()) | shown


def find_lower_devices(mount: Mount) -> tuple[str, ...]:
    """Return kernel names of the devices below; none for NFS, tmpfs or overlay."""
    try:
        return tuple(device.name for device in stack.find_devices(mount.point))
    except TargetError:
        return ()


def read_instance(disk: str) -> int:
    """Return an identifier of the mounted superblock of a disk.

    It is the inode of its folder below /sys/fs, which the kernel creates at the first mount and
    removes at the end of the last mount in any namespace. 0 if it has no such folder.
    """
    if not disk:
        return 0
    folders = (ROOT / "sys/fs").glob(f"*/{disk}")
    members = (ROOT / "sys/fs/btrfs").glob(f"*/devices/{disk}")
    found = [*folders, *(member.parent.parent for member in members)]
    return _inode(found[0]) if found else 0


def _inode(folder: Path) -> int:
    try:
        return folder.stat().st_ino
    except FileNotFoundError:  # unmounted in between
        return 0
