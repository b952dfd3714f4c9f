"""Disks and mounts of the settings to keep: studied, held by `set`, or named by the user."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, assert_never

from iostudy.errors import RestoreError, UsageError
from iostudy.host import devices
from iostudy.host.inventory import describe_device
from iostudy.persist.request import Inventory, InventoryDisk, PersistedSetting, PersistRequest
from iostudy.settings import catalog, kinds, places
from iostudy.settings.attributes import AttributeChange, Attributes
from iostudy.settings.definition import Reach
from iostudy.settings.identity import DeviceIdentity
from iostudy.settings.kinds.queue import Queue
from iostudy.settings.mounting.owners import FileSystemOptions, MountFlags
from iostudy.settings.transaction.journal import JournalContents, journal_paths, read_journal
from iostudy.settings.transaction.state import state_directory


def find_studied(
    name: str, value: str, labels: Iterable[str], circumstances: Mapping[str, Any]
) -> tuple[PersistedSetting, ...]:
    """Return the places of the setting in the ledger; ``labels`` are those read back."""
    then = circumstances.get("host", {}).get("block_devices", {})
    names = sorted(label for label in labels if label.partition("@")[0] == name)
    now = _read_inventory()
    return tuple(_build_setting(value, label, then, now) for label in names) or (
        PersistedSetting(name, value),
    )


def find_at_places(name: str, value: str, on: Sequence[str]) -> tuple[PersistedSetting, ...]:
    """The setting below each of the places; TargetError where there is nothing to set."""
    if not catalog.get(name).reach.needs_place:
        return (PersistedSetting(name, value),)
    now = _read_inventory()
    return tuple(_build_setting(value, label, now, now, named=True) for label in _labels(name, on))


def find_held(on: Sequence[str]) -> PersistRequest:
    """Find the settings that `iostudy set` holds now, limited to the places ``on``.

    UsageError if that is nothing.
    """
    now = _read_inventory()
    kept = [_from_held(one, now, named=bool(on)) for one in read_committed_settings()]
    if on:
        kept = [k for k in kept if k.label == k.name or k.label in _labels(k.name, on)]
    if not kept:
        raise UsageError(
            "settings to keep",
            found="`iostudy set` holds none" + (f" on {', '.join(on)}" if on else ""),
            where="iostudy persist",
            remedy="name the output folder of a study, or set something first",
        )
    provenance = (f"No study compares these values; host {platform.node()}.",)
    return PersistRequest("what iostudy set held", tuple(kept), provenance=provenance)


def _build_setting(
    value: str, label: str, then: Inventory, now: Inventory, *, named: bool = False
) -> PersistedSetting:
    name, _, place = label.partition("@")
    reach = catalog.get(name).reach
    match reach:
        case Reach.DEVICE:
            disk = InventoryDisk.described(place, then, named=named).found_in(now)
            return PersistedSetting(name, value, disk=disk)
        case Reach.MOUNT:
            return PersistedSetting(name, value, mount_point=Path(place))
        case Reach.HOST | Reach.WORKLOAD | Reach.DISK | Reach.CLUSTER:
            return PersistedSetting(name, value)
        case unreachable:
            assert_never(unreachable)


def _from_held(one: CommittedSetting, now: Inventory, *, named: bool) -> PersistedSetting:
    if one.device is None:
        return PersistedSetting(one.name, one.value, mount_point=one.mount_point)
    # It is still the same disk: settings of a removed disk are no longer held.
    disk = replace(InventoryDisk.described(one.device.name, now, named=named), here=one.device.name)
    return PersistedSetting(one.name, one.value, disk)


def _labels(name: str, on: Sequence[str]) -> tuple[str, ...]:
    """``block.scheduler@sda`` for each device or mount below the places."""
    return tuple(setting.label for setting in places.bind(name, on))


def read_present_disks() -> tuple[InventoryDisk, ...]:
    """Return all disks and volumes of this host."""
    inventory = _read_inventory()
    return tuple(InventoryDisk.described(name, inventory) for name in inventory)


def _read_inventory() -> Inventory:
    """Return all disks and volumes in the form of an inventory."""
    return {device.name: describe_device(device) for device in devices.read_disks()}


@dataclass(frozen=True)
class CommittedSetting:
    """A setting that is held. ``device`` or ``mount_point`` say where, for what has a place."""

    name: str
    value: str
    device: DeviceIdentity | None = None
    mount_point: Path | None = None


def read_committed_settings(directory: Path | None = None) -> tuple[CommittedSetting, ...]:
    """Every setting that is held, the last value of each; in the order they were set first.

    RestoreError for a journal of another version, or one that has lost a line.
    """
    held: dict[tuple[str, DeviceIdentity | None, Path | None], CommittedSetting] = {}
    for path in reversed(journal_paths(directory or state_directory())):
        contents = read_journal(path)
        if contents.committed and contents.lost_lines:
            raise RestoreError(
                "all settings that `iostudy set` holds",
                found=contents.lost_lines,
                where=str(path),
                remedy="`iostudy restore` undoes what the other lines hold; set all of it again",
            )
        if contents.committed:
            held |= {(h.name, h.device, h.mount_point): h for h in _held(contents)}
    return tuple(held.values())


def _held(contents: JournalContents) -> Iterator[CommittedSetting]:
    for entry in contents.pending:
        change = kinds.rebuild_change(entry.kind, entry.record)
        if isinstance(change, AttributeChange) and change.owner.absence_reason() is None:
            for name, value in change.settings.items():
                yield CommittedSetting(name, value, *_place(change.owner))


def _place(owner: Attributes) -> tuple[DeviceIdentity | None, Path | None]:
    match owner:
        case Queue(device):
            return device, None
        case MountFlags() | FileSystemOptions():
            return None, Path(owner.point)
        case _:
            return None, None
