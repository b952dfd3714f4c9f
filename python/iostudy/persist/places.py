"""Where a setting is to be kept: where it was studied, where `set` holds it, or where one says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from iostudy.errors import UsageError
from iostudy.host import devices
from iostudy.host.inventory import describe_device
from iostudy.persist.kept import Choice, Disk, Kept
from iostudy.settings import kinds
from iostudy.settings.held import Held, held

_OF_DEVICES = ("block.",)
_OF_MOUNTS = ("mount.", "bdi.")


def recorded(
    name: str, value: str, labels: Iterable[str], circumstances: Mapping[str, Any]
) -> tuple[Kept, ...]:
    """Wherever the ledger has the setting; ``labels`` are those that its trials read back."""
    inventory = circumstances.get("host", {}).get("block_devices", {})
    own = sorted(label for label in labels if label.partition("@")[0] == name)
    return _each(name, value, own, inventory) or (Kept(name, value),)


def named(name: str, value: str, on: Sequence[str]) -> tuple[Kept, ...]:
    """The setting below each of the places; TargetError where there is nothing to set."""
    if not name.startswith(_OF_DEVICES + _OF_MOUNTS):
        return (Kept(name, value),)
    return _each(name, value, _labels(name, on), _inventory(), named=True)


def what_set_holds(on: Sequence[str]) -> Choice:
    """What `iostudy set` holds now, of devices and mounts only those named.

    UsageError if that is nothing.
    """
    inventory = _inventory()
    kept = [_of_held(one, inventory) for one in held()]
    if on:
        kept = [setting for setting in kept if _is_on(setting, on)]
        kept = [_with_name(setting) for setting in kept]
    if not kept:
        raise UsageError(
            "settings to keep",
            found="`iostudy set` holds none" + (f" on {', '.join(on)}" if on else ""),
            where="iostudy persist",
            remedy="name the output folder of a study, or set something first",
        )
    return Choice("what iostudy set held", tuple(kept))


def _each(
    name: str,
    value: str,
    labels: Iterable[str],
    inventory: Mapping[str, Any],
    *,
    named: bool = False,
) -> tuple[Kept, ...]:
    return tuple(
        _kept(name, value, label.partition("@")[2], inventory, named=named) for label in labels
    )


def _kept(name: str, value: str, place: str, inventory: Mapping[str, Any], *, named: bool) -> Kept:
    if name.startswith(_OF_DEVICES):
        return Kept(name, value, disk=Disk.described(place, inventory, named=named))
    if name.startswith(_OF_MOUNTS):
        return Kept(name, value, mount_point=Path(place))
    return Kept(name, value)


def _of_held(one: Held, inventory: Mapping[str, Any]) -> Kept:
    disk = Disk.described(one.device.name, inventory) if one.device else None
    return Kept(one.name, one.value, disk, one.mount_point)


def _is_on(setting: Kept, on: Sequence[str]) -> bool:
    """Whether it is below one of the places, or has no place."""
    return setting.label == setting.name or setting.label in _labels(setting.name, on)


def _with_name(setting: Kept) -> Kept:
    return (
        setting
        if setting.disk is None
        else replace(setting, disk=replace(setting.disk, named=True))
    )


def _labels(name: str, on: Sequence[str]) -> tuple[str, ...]:
    """``block.scheduler@sda`` for each device or mount below the places, each once."""
    bound = (setting.label for place in on for setting in kinds.bind(name, place))
    return tuple(dict.fromkeys(bound))


def _inventory() -> Mapping[str, Any]:
    """All disks and volumes as an inventory describes them."""
    return {device.name: describe_device(device) for device in devices.disks()}
