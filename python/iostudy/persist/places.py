"""Where a setting is to be kept: where it was studied, where `set` holds it, or where one says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, assert_never

from iostudy.errors import UsageError
from iostudy.host import devices
from iostudy.host.inventory import describe_device
from iostudy.persist.kept import Choice, Disk, Inventory, Kept
from iostudy.settings import catalog, places
from iostudy.settings.definition import Reach
from iostudy.settings.transaction.held_settings import HeldSetting, read_held_settings


def recorded(
    name: str, value: str, labels: Iterable[str], circumstances: Mapping[str, Any]
) -> tuple[Kept, ...]:
    """Wherever the ledger has the setting; ``labels`` are those that its trials read back."""
    then = circumstances.get("host", {}).get("block_devices", {})
    own = sorted(label for label in labels if label.partition("@")[0] == name)
    now = _inventory()
    return tuple(_kept(value, label, then, now) for label in own) or (Kept(name, value),)


def named(name: str, value: str, on: Sequence[str]) -> tuple[Kept, ...]:
    """The setting below each of the places; TargetError where there is nothing to set."""
    if not catalog.get(name).reach.needs_place:
        return (Kept(name, value),)
    now = _inventory()
    return tuple(_kept(value, label, now, now, named=True) for label in _labels(name, on))


def what_set_holds(on: Sequence[str]) -> Choice:
    """What `iostudy set` holds now, of devices and mounts only those named.

    UsageError if that is nothing.
    """
    now = _inventory()
    kept = [_of_held(one, now, named=bool(on)) for one in read_held_settings()]
    if on:
        kept = [setting for setting in kept if _is_on(setting, on)]
    if not kept:
        raise UsageError(
            "settings to keep",
            found="`iostudy set` holds none" + (f" on {', '.join(on)}" if on else ""),
            where="iostudy persist",
            remedy="name the output folder of a study, or set something first",
        )
    return Choice("what iostudy set held", tuple(kept))


def _kept(value: str, label: str, then: Inventory, now: Inventory, *, named: bool = False) -> Kept:
    name, _, place = label.partition("@")
    reach = catalog.get(name).reach
    match reach:
        case Reach.DEVICE:
            disk = Disk.described(place, then, named=named).found_in(now)
            return Kept(name, value, disk=disk)
        case Reach.MOUNT:
            return Kept(name, value, mount_point=Path(place))
        case Reach.HOST | Reach.WORKLOAD | Reach.DISK | Reach.CLUSTER:
            return Kept(name, value)
        case unreachable:
            assert_never(unreachable)


def _of_held(one: HeldSetting, now: Inventory, *, named: bool) -> Kept:
    if one.device is None:
        return Kept(one.name, one.value, mount_point=one.mount_point)
    # It is the disk that it was: what is held of one that has gone is not held any more.
    disk = replace(Disk.described(one.device.name, now, named=named), here=one.device.name)
    return Kept(one.name, one.value, disk)


def _is_on(setting: Kept, on: Sequence[str]) -> bool:
    """Whether it is below one of the places, or has no place."""
    return setting.label == setting.name or setting.label in _labels(setting.name, on)


def _labels(name: str, on: Sequence[str]) -> tuple[str, ...]:
    """``block.scheduler@sda`` for each device or mount below the places."""
    return tuple(setting.label for setting in places.bind(name, on))


def _inventory() -> Inventory:
    """All disks and volumes as an inventory describes them."""
    return {device.name: describe_device(device) for device in devices.disks()}
