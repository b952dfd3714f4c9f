"""UUID of a mounted file system.

Source: FS_IOC_GETFSUUID in include/uapi/linux/fs.h; udev's links below /dev/disk/by-uuid.
"""

from __future__ import annotations

import fcntl
import os
import struct
import uuid
from pathlib import Path

from iostudy.host.files import ROOT

_GET_UUID = 0x80111500
"""FS_IOC_GETFSUUID (Linux 6.9): a byte with the length, and 16 bytes."""


def filesystem_uuid(directory: Path) -> str:
    """The UUID of the file system of a directory, in udev's form.

    Empty where neither kernel nor udev gives one; OSError if there is no such directory.
    """
    return _from_kernel(directory) or _from_udev(directory.stat().st_dev)


def _from_kernel(directory: Path) -> str:
    """Empty on older kernels, and where the directory cannot be read."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        length, number = struct.unpack("B16s", fcntl.ioctl(descriptor, _GET_UUID, bytes(17)))
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return str(uuid.UUID(bytes=number)) if any(number[:length]) else ""


def _from_udev(device: int) -> str:
    """Return udev's UUID of a block device; empty for the anonymous number of a btrfs."""
    links = (ROOT / "dev/disk/by-uuid").glob("*")
    return next((link.name for link in links if _leads_to(link, device)), "")


def _leads_to(link: Path, device: int) -> bool:
    try:
        return link.stat().st_rdev == device
    except OSError:  # the device is gone
        return False
