"""Stacking of block devices, from a path or a name down to the scheduling queues.

A partition lies on its disk, a device-mapper or md volume on its slaves, and a loop device on the
device of its backing file. A btrfs lies on all of its devices. Callers need the TOP devices (the
whole disk or volume of a file system) and the SCHEDULING ones (the first queues on the way down
with a scheduler other than ``none``).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from iostudy.errors import TargetError
from iostudy.host import devices, mounts, volumes
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, read_attribute
from iostudy.storage_kind import NETWORK_FILESYSTEMS

_WITHOUT_DEVICE = {
    "tmpfs": "it lives in memory; give a directory on a disk",
    "ramfs": "it lives in memory; give a directory on a disk",
    "overlay": "it is a container's overlay; give a directory of a mounted volume, or a device",
    "zfs": "zfs does not say which disks it uses; name one of them, such as /dev/sda",
}
_WITHOUT_DEVICE |= dict.fromkeys(
    NETWORK_FILESYSTEMS,
    "the disks are the server's; vary mount or workload options, or run it on the server",
)


def find_devices(place: str | Path, root: Path = ROOT) -> tuple[BlockDevice, ...]:
    """Return the devices that ``place`` names, or those of its file system.

    ``place`` is a kernel name (``loop0``), a volume's name (``vg0/home``, ``vg0-home``), a node
    or a link to one (``/dev/disk/by-id/...``), or any file or directory. A name precedes a
    relative path. The result is one device, except for a btrfs on several. TargetError if there
    is none.
    """
    name, path = os.fspath(place), Path(place)
    named = volumes.find_device_by_name(name, root) if not path.is_absolute() else None
    if named:
        return (named,)
    try:
        status = path.stat()
    except OSError as error:
        # A node that udev has not made, as in a container: sysfs knows the name all the same.
        named = volumes.find_device_by_name(name, root)
        if named:
            return (named,)
        raise TargetError(
            "a directory, a device node or a device name",
            found=error.strerror or str(error),
            where=name,
            remedy="create the directory, or see `lsblk` for the devices there are",
        ) from error
    if stat.S_ISBLK(status.st_mode):
        return _known(_number(status.st_rdev), path, root)
    device = devices.read_device_by_number(_number(status.st_dev), root)
    return (device,) if device else _anonymous_devices(path, root)


def find_members(name: str, root: Path = ROOT) -> tuple[BlockDevice, ...]:
    """Return the member devices of a volume group, an md or device-mapper device or a btrfs.

    ``name`` is a group's (``vg0``), a device's or a path on a btrfs. Members are disks,
    partitions or arrays. TargetError if it does not exist or has no members.
    """
    group = volumes.find_group_volumes(name, root)
    if group:
        inner = {volume.name for volume in group}
        lower = _each_once(below for volume in group for below in lower_devices(volume, root))
        return tuple(device for device in lower if device.name not in inner)
    top, *others = tops = find_devices(name, root)
    members = tops if others else tuple(devices.read_device(n, root) for n in top.slaves)
    if not members and any((root / "sys/fs/btrfs").glob(f"*/devices/{top.name}")):
        members = btrfs_members(top, root)
    if not members:
        raise TargetError(
            "a volume group, an array, a device-mapper volume or a btrfs, with its members",
            found=f"{top.name}, which consists of nothing else",
            where=name,
            remedy="name the device itself, or see `iostudy doctor` for what consists of what",
        )
    return members


def top_devices(place: str | Path, root: Path = ROOT) -> tuple[BlockDevice, ...]:
    """The whole disks or volumes that the file system of ``place`` sits on."""
    return _each_once(devices.read_device(d.disk, root) for d in find_devices(place, root))


def scheduling_devices(place: str | Path, root: Path = ROOT) -> tuple[BlockDevice, ...]:
    """Return the first devices below ``place`` with a scheduler other than ``none``.

    All of them are one level of the stack, such as the disks below a striped volume, and need
    the same setting. TargetError if no queue has a scheduler.
    """
    top = top_devices(place, root)
    scheduling = _each_once(device for upper in top for device in _scheduling(upper, root))
    if not scheduling:
        raise TargetError(
            "a queue with a choice of schedulers",
            found="every queue below it offers only none",
            where=f"{place} on {', '.join(device.name for device in top)}",
            remedy="load a scheduler (modprobe mq-deadline, kyber-iosched or bfq), or vary others",
        )
    return scheduling


def whole_stack(place: str | Path, root: Path = ROOT) -> tuple[BlockDevice, ...]:
    """Return every device from the one under ``place`` to the last, top first, each once."""
    return _each_once(_walk(find_devices(place, root), root))


def lower_devices(device: BlockDevice, root: Path = ROOT) -> tuple[BlockDevice, ...]:
    """Return the devices directly below this one; none for a disk.

    A loop device without a reachable backing file ends the stack: unlinked, in another mount
    namespace, in memory or on a network.
    """
    if device.partition_of:
        return (devices.read_device(device.partition_of, root),)
    if device.backing_file is None:
        return tuple(devices.read_device(name, root) for name in device.slaves)
    try:
        return find_devices(device.backing_file, root)
    except TargetError:
        return ()


def devices_with_counters(device: BlockDevice, root: Path = ROOT) -> tuple[BlockDevice, ...]:
    """The device, or the paths to it where these alone count what it does.

    NVMe disks with paths count nothing before Linux 6.2 (commit d4d957b53d91). Of other devices
    ``queue/iostats`` does not say so: device-mapper has 0 there and counts (observed on Linux 6.1).
    """
    paths = tuple(path for path in devices.read_present_devices(device.slaves, root) if path.hidden)
    counts = read_attribute(devices.queue_folder(device, root) / "iostats")
    return paths if paths and (counts or "").strip() == "0" else (device,)


def _walk(level: Iterable[BlockDevice], root: Path) -> Iterator[BlockDevice]:
    for device in level:
        yield device
        yield from _walk(lower_devices(device, root), root)


def _scheduling(device: BlockDevice, root: Path) -> Iterator[BlockDevice]:
    scheduler = devices.read_scheduler(device, root)
    if scheduler and scheduler.schedules and not device.partition_of:
        yield device
    else:
        for lower in lower_devices(device, root):
            yield from _scheduling(lower, root)


def _anonymous_devices(path: Path, root: Path) -> tuple[BlockDevice, ...]:
    """Return the devices of a file system with an anonymous number, by its mount's source."""
    mount = mounts.find_mount(path)
    source = None if mount.filesystem in _WITHOUT_DEVICE else mount.named_device
    if source is not None and source.is_block_device():
        (device,) = _known(_number(source.stat().st_rdev), source, root)
        return btrfs_members(device, root) if mount.filesystem == "btrfs" else (device,)
    raise TargetError(
        "a file system on a block device",
        found=f"{mount.filesystem} ({mount.source}), which has no block device below it",
        where=str(path),
        remedy=_WITHOUT_DEVICE.get(mount.filesystem, "give a directory on a disk, or a device"),
    )


def btrfs_members(device: BlockDevice, root: Path = ROOT) -> tuple[BlockDevice, ...]:
    """Return all devices of ``device``'s btrfs (``/sys/fs/btrfs/UUID/devices``)."""
    for folder in (root / "sys/fs/btrfs").glob("*/devices"):
        names = sorted(link.name for link in folder.iterdir())
        if device.name in names:
            return tuple(devices.read_device(name, root) for name in names)
    return (device,)


def _known(number: str, path: Path, root: Path) -> tuple[BlockDevice, ...]:
    device = devices.read_device_by_number(number, root)
    if device is None:
        raise TargetError(
            "a block device",
            found=f"a node with the number {number}, which no device has",
            where=str(path),
            remedy="see `lsblk` for the devices there are",
        )
    return (device,)


def _each_once(block_devices: Iterable[BlockDevice]) -> tuple[BlockDevice, ...]:
    return tuple({device.name: device for device in block_devices}.values())


def _number(device: int) -> str:
    return f"{os.major(device)}:{os.minor(device)}"


def find_uses(device: BlockDevice, root: Path = ROOT) -> tuple[str, ...]:
    """Return every use of the device and its partitions, in words: ``sda1 is mounted on /boot``.

    Empty means no known use in this mount namespace. `is_claimed` asks the kernel across
    namespaces, but returns no reason.
    """
    parts = [device, *(devices.read_device(name, root) for name in device.partitions)]
    # A loop device does not claim the device that it uses, so `is_claimed` misses it.
    loops = {
        number: disk.name
        for disk in devices.read_disks(root)
        if disk.backing_file is not None and (number := _node_number(disk.backing_file))
    }
    whole = [devices.read_device(device.disk, root)] if device.partition_of else []
    return (
        *(use for part in parts for use in _uses(part, root)),
        *(
            f"{part.name} is the backing file of {loops[part.number]}"
            for part in (*whole, *parts)
            if part.number in loops
        ),
    )


def _node_number(path: Path) -> str:
    """Return the number of a device by its node; empty for a file, or where nothing is."""
    with suppress(OSError):
        status = path.stat()
        if stat.S_ISBLK(status.st_mode):
            return _number(status.st_rdev)
    return ""


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
