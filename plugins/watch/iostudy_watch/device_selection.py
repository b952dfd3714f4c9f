"""Selection of the block devices to watch, with their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import TargetError
from iostudy.host import devices, stack, volumes
from iostudy.host.devices import BlockDevice, udev_name
from iostudy.host.files import ROOT
from iostudy.study.names import format_names


@dataclass(frozen=True)
class WatchedDevice:
    """A device by its name in /proc/diskstats (``dm-2``, ``cciss/c0d0``).

    ``called`` is what people call it: a volume's or an array's name (``vg0/home``, ``md/data``),
    else its own. ``members`` are the devices that it consists of, by the kernel's names, ``disks``
    the disk of each: a partition's, else itself. ``counted_by`` are those that count what it does,
    where it does not itself.
    """

    name: str
    label: str
    members: tuple[str, ...] = ()
    disks: tuple[str, ...] = ()
    is_partition: bool = False
    counted_by: tuple[str, ...] = ()


def select_devices(places: Sequence[str], root: Path = ROOT) -> tuple[str, ...]:
    """Return the devices of those places, each volume followed by its members, each once.

    A place is a kernel name, a volume's or an array's name, a node or a link to one, or any
    file or directory, which stands for the device of its file system. TargetError if there is
    no such device; it names the existing or the most similar ones.
    """
    selected = (device for place in places for device in _find_devices(place, root))
    whole = (member for device in selected for member in _with_members(device, root))
    return tuple(dict.fromkeys(udev_name(device.name) for device in whole))


def describe_device(name: str, root: Path = ROOT) -> WatchedDevice:
    """Describe the device of that name; a vanished one has only its name."""
    try:
        device = devices.read_device(name.replace("/", "!"), root)
    except FileNotFoundError:
        return WatchedDevice(name, name)
    called = next(iter(volumes.find_aliases(device, root)), name)
    members = devices.read_present_devices(device.slaves, root)
    return WatchedDevice(
        name=name,
        label=called,
        members=tuple(udev_name(member.name) for member in members),
        disks=tuple(udev_name(member.disk) for member in members),
        is_partition=device.partition_of is not None,
        counted_by=tuple(
            udev_name(counter.name)
            for counter in stack.devices_with_counters(device, root)
            if counter != device
        ),
    )


def _find_devices(place: str, root: Path) -> tuple[BlockDevice, ...]:
    try:
        return stack.find_devices(place, root)
    except TargetError as error:
        if Path(place).exists():
            raise
        there = format_names(place, [udev_name(name) for name in devices.disk_names(root)])
        remedy = f"name a path, a partition, or one of {there or 'no device: none is here'}"
        raise TargetError(
            error.wanted, found=error.found, where=error.where, remedy=remedy
        ) from error


def _with_members(device: BlockDevice, root: Path) -> Iterator[BlockDevice]:
    yield device
    for member in devices.read_present_devices(device.slaves, root):
        yield from _with_members(member, root)
