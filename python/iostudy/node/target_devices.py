"""Block devices below the places of a study; none for memory or remote places."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from iostudy.errors import TargetError
from iostudy.host import devices, stack, volumes
from iostudy.host.devices import BlockDevice
from iostudy.settings.identity import DiskIdentity


def device_names(*places: Path) -> tuple[str, ...]:
    """Return every device below the places, each once, from the top."""
    return tuple(dict.fromkeys(device.name for place in places for device in _stack(place)))


def devices_with_queues(names: Iterable[str]) -> tuple[BlockDevice, ...]:
    """Return the named devices with their own queue, without partitions."""
    present = devices.read_present_devices(names)
    return tuple(device for device in present if device.name == device.disk)


def top_device_names(*places: Path) -> tuple[str, ...]:
    """Return the disk or volume below each place, the first of several, each once.

    Or its paths, if it has no statistics of its own. None of them is stacked on another: the I/O of
    a loop device also reaches the disk of its file, and counts once.
    """
    counting: dict[BlockDevice, None] = {}
    for place in dict.fromkeys(places):
        with suppress(TargetError):
            top = stack.top_devices(place)[0]
            counting |= dict.fromkeys(stack.devices_with_counters(top))
    return tuple(device.name for device in counting if not _is_stacked_on_any(device, counting))


def _is_stacked_on_any(device: BlockDevice, others: Iterable[BlockDevice]) -> bool:
    rest = {other for other in others if other != device}
    return bool(rest) and not rest.isdisjoint(stack.whole_stack(device.name))


def stack_below(place: Path) -> dict[str, tuple[str, ...]]:
    """Return the devices directly below each device of the place that is built on others."""
    members = {device.name: device.slaves for device in _stack(place)}
    return {name: below for name, below in members.items() if below}


def device_titles(place: Path) -> dict[str, str]:
    """Return all names of each device of the place: ``253:2 = dm-2 = vg0/home``."""
    return {
        device.name: " = ".join((device.number, device.name, *volumes.find_aliases(device)[:1]))
        for device in _stack(place)
    }


def device_identities(place: str | Path) -> list[str]:
    """Return stable identities of the devices below a place, independent of their names.

    Paths of a disk are excluded, because their number can change.
    """
    return [
        DiskIdentity.from_device(device).stable() for device in _stack(place) if not device.hidden
    ]


def _stack(place: str | Path) -> tuple[BlockDevice, ...]:
    try:
        return stack.whole_stack(place)
    except TargetError:
        return ()
