"""Uses of a block device that forbid writing to it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from iostudy.host import devices, mounts
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT


def find_uses(device: BlockDevice, root: Path = ROOT) -> tuple[str, ...]:
    """Return every use of the device and its partitions, in words: ``sda1 is mounted on /boot``.

    Empty means no known use in this mount namespace. `is_claimed` asks the kernel across
    namespaces, but returns no reason.
    """
    parts = [device, *(devices.read_device(name, root) for name in device.partitions)]
    return tuple(use for part in parts for use in _uses(part, root))


def is_claimed(path: Path) -> bool:
    """Return whether the kernel refuses an exclusive open: mounted, swap, or part of a volume.

    Source: open(2), O_EXCL on block devices. Other errors propagate as OSError.
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
        if mount.lies_on(part.number, part.path):
            yield f"{part.name} is mounted on {mount.point}"
    if part.path in (path.resolve() for path in mounts.read_swaps(root)):
        yield f"{part.name} is swap space"
    for holder in part.holders:
        yield f"{part.name} is a part of {holder}"
