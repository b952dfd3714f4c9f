"""Who uses a block device: what forbids writing to it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from iostudy.host import devices, mounts
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT


def uses_of(device: BlockDevice, root: Path = ROOT) -> tuple[str, ...]:
    """Every use of the device and its partitions, in words: ``sda1 is mounted on /boot``.

    Empty means that the kernel knows no user, as this mount namespace sees it; `is_claimed` asks
    the kernel across namespaces but gets no reason.
    """
    parts = [device, *(devices.read_device(name, root) for name in device.partitions)]
    return tuple(use for part in parts for use in _uses(part, root))


def is_claimed(path: Path) -> bool:
    """Whether the kernel refuses an exclusive open: mounted anywhere, swap, or part of a volume.

    Source: open(2), O_EXCL on block devices. Other errors pass as OSError.
    """
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        if error.errno == errno.EBUSY:
            return True
        raise
    return False


def _uses(part: BlockDevice, root: Path) -> Iterator[str]:
    for mount in mounts.read_mounts(root):
        # A file system with a number of its own (btrfs) is known by its source alone.
        if part.number == mount.device or part.path == Path(mount.source).resolve():
            yield f"{part.name} is mounted on {mount.point}"
    if part.path in (path.resolve() for path in mounts.read_swaps(root)):
        yield f"{part.name} is swap space"
    for holder in part.holders:
        yield f"{part.name} is a part of {holder}"
