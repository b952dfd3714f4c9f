"""What holds on a mounted file system: what it shows of itself, and the defaults that it does not.

A file system shows an option only where it differs from its default. ext4 tells all of them in a
file of its own; of others the documented defaults are known, and of what is neither shown nor
documented nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from iostudy.errors import TargetError
from iostudy.host import stack
from iostudy.host.files import ROOT, read_attribute
from iostudy.host.mounts import Mount
from iostudy.settings.mounting.options import OFF, ON, values_of

_OF_EVERY = {"sync": OFF, "lazytime": OFF}
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
    """The value of every option of the file system that is known; ``disk`` is the device below."""
    shown = values_of(mount.super_options)
    told = read_attribute(ROOT / "proc/fs/ext4" / disk / "options") if disk else None
    documented = _OF_EVERY | dict(_DEFAULTS.get(mount.filesystem, {}))
    return documented | values_of((told or "").split()) | shown


def devices_below(mount: Mount) -> tuple[str, ...]:
    """Kernel names of the devices that a file system lies on; none for NFS, tmpfs or overlay."""
    try:
        return tuple(device.name for device in stack.devices_of(mount.point))
    except TargetError:
        return ()


def instance(disk: str) -> int:
    """What tells the file system on a disk from another that is mounted there later.

    The inode of the folder below /sys/fs that the kernel makes when it is mounted and takes away
    when the last mount of it, in whatever namespace, is gone. 0 where it has no such folder.
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
    except FileNotFoundError:  # unmounted meanwhile
        return 0
