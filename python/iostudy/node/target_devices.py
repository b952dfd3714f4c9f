"""The devices that the places of a study lie on; none for a place in memory or far away."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from iostudy.errors import TargetError
from iostudy.host import devices, stack
from iostudy.host.devices import BlockDevice
from iostudy.settings.identity import DiskIdentity


def names(*places: Path) -> tuple[str, ...]:
    """Every device below the places, each once, from the top."""
    return tuple(dict.fromkeys(device.name for place in places for device in _stack(place)))


def queued(found: Iterable[str]) -> tuple[BlockDevice, ...]:
    """Of the devices of these names those that have a queue of their own: no partitions."""
    present = devices.present(found)
    return tuple(device for device in present if device.name == device.disk)


def tops(*places: Path) -> tuple[str, ...]:
    """The whole disk or volume that each place sits on, the first of several, each once.

    Or the paths to that, if it counts nothing itself. None of them lies on another: what a loop
    device moves arrives at the disk that its file is on, and is to be counted once.
    """
    tops = (stack.top_devices(place)[0] for place in places if _stack(place))
    found = dict.fromkeys(device for top in tops for device in stack.counting(top))
    return tuple(device.name for device in found if not _lies_on_any(device, found))


def _lies_on_any(device: BlockDevice, others: Iterable[BlockDevice]) -> bool:
    below = stack.whole_stack(device.name)
    return any(other in below for other in others if other != device)


def identity(place: str | Path) -> list[str]:
    """The devices that a place is on, or is made on, whatever they are named today.

    Without the paths to a disk, of which it may gain or lose some.
    """
    return [DiskIdentity.of(device).stable() for device in _stack(place) if not device.hidden]


def _stack(place: str | Path) -> tuple[BlockDevice, ...]:
    try:
        return stack.whole_stack(place)
    except TargetError:
        return ()
