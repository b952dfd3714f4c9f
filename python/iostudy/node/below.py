"""The devices that the places of a study lie on; none for a place in memory or far away."""

from __future__ import annotations

from pathlib import Path

from iostudy.errors import TargetError
from iostudy.host import stack
from iostudy.host.devices import BlockDevice
from iostudy.settings.identity import DiskIdentity


def names(*places: Path) -> tuple[str, ...]:
    """Every device below the places, each once, from the top."""
    return tuple(dict.fromkeys(device.name for place in places for device in _stack(place)))


def top(place: Path) -> str:
    """The whole disk or volume that the place sits on, the first of several; empty for none."""
    return stack.top_devices(place)[0].name if _stack(place) else ""


def identity(place: str | Path) -> list[str]:
    """The devices that a place is on, or is made on, whatever they are named today."""
    return [DiskIdentity.of(device).stable() for device in _stack(place)]


def _stack(place: str | Path) -> tuple[BlockDevice, ...]:
    try:
        return stack.whole_stack(place)
    except TargetError:
        return ()
