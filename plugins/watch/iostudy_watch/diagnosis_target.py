"""Target and context of a diagnosis of live readings: the devices or mount used most."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from iostudy.diagnosis.context import (
    DiagnosisContext,
    InventoryDevice,
    InventoryMount,
    build_context,
    collect_operating_points,
    compute_data_rate_kb,
    is_attributable_to_workload,
)
from iostudy.diagnosis.evidence import MINIMUM_HELD
from iostudy.errors import TargetError
from iostudy.host import stack
from iostudy.host.devices import read_device, udev_name
from iostudy.host.inventory import detect_free_page_reporting, detect_virtualisation
from iostudy.telemetry.summary import Figures, TelemetrySummary
from iostudy_watch.live import Reading


@dataclass(frozen=True)
class DiagnosisTarget:
    """Devices by kernel name, or an NFS mount by path; neither if all were idle."""

    devices: tuple[str, ...] = ()
    mount: str = ""


def find_target(reading: Reading, selected: Sequence[str] | None) -> DiagnosisTarget:
    """Return the selected devices, else the busiest one, without devices below another one.

    Return the busiest mount instead if it moved more data than that device and the command may
    have caused it.
    """
    if selected is not None:
        return DiagnosisTarget(_select_devices(reading, selected))
    summary, device = reading.summary, _find_busiest_device(reading)
    mount = _find_busiest_mount(summary)
    if mount and _has_more_io(summary.nfs[mount], summary.devices.get(device, {})):
        return DiagnosisTarget(mount=mount)
    return DiagnosisTarget((device,) if device else ())


def build_watch_context(reading: Reading, target: DiagnosisTarget) -> DiagnosisContext:
    """Build the context of a command; how many requests it makes at once is unknown."""
    return build_context(
        target.devices,
        [_describe_device(reading, name) for name in reading.devices],
        [InventoryMount(target.mount, source="", filesystem="nfs")] if target.mount else [],
        collect_operating_points([reading.summary]),
        virtual_machine=detect_virtualisation() is not None,
        free_page_reporting=detect_free_page_reporting(),
    )


def _find_busiest_device(reading: Reading) -> str:
    """No member of another; "" if none did anything."""
    devices = reading.summary.devices
    utils = {name: devices[name]["%util"] for name in _exclude_members(reading, devices)}
    busiest = max(utils, key=utils.__getitem__, default="")
    return busiest if utils.get(busiest, 0.0) > 0 else ""


def _select_devices(reading: Reading, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names without underlying devices.

    A device without counters is replaced by its members.
    """
    counting = dict.fromkeys(
        device for name in names for device in _counting_devices(reading, name)
    )
    below = {device for name in counting for device in _underlying_devices(name)}
    return tuple(name for name in _exclude_members(reading, counting) if name not in below)


def _exclude_members(reading: Reading, names: Collection[str]) -> tuple[str, ...]:
    """Return the names that are not members of others."""
    there = (name for name in names if name in reading.devices)
    below = {member for name in there for member in reading.members_of(name)}
    return tuple(name for name in names if name not in below)


def _counting_devices(reading: Reading, name: str) -> tuple[str, ...]:
    return (reading.devices[name].counted_by or (name,)) if name in reading.devices else (name,)


def _underlying_devices(name: str) -> Iterator[str]:
    """Return all underlying devices, including those that are not listed as members."""
    try:
        below = stack.whole_stack(name)
    except TargetError:  # it has gone meanwhile
        return
    yield from (udev_name(device.name) for device in below if device.name != name)


def _find_busiest_mount(summary: TelemetrySummary) -> str:
    """Return the mount with the most data moved that the command may use; "" without any."""
    shown = {
        name: figures
        for name, figures in summary.nfs.items()
        if is_attributable_to_workload(summary, name)
    }
    return max(
        shown,
        key=lambda name: (compute_data_rate_kb(shown[name]), shown[name]["ops/s"]),
        default="",
    )


def _has_more_io(mount: Figures, device: Figures) -> bool:
    """Whether the mount moved more data than the device.

    All operations count if the device was too idle to be a limit: listing and removing files
    moves no data.
    """
    is_idle = device.get("%util", 0.0) < MINIMUM_HELD
    operations_kb = mount.get("okB/s", 0.0) if is_idle else 0.0
    return compute_data_rate_kb(mount) + operations_kb > compute_data_rate_kb(device)


def _describe_device(reading: Reading, name: str) -> InventoryDevice:
    """Describe a device; one that has disappeared has no flag."""
    members = reading.members_of(name)
    try:
        device = read_device(name.replace("/", "!"))
    except FileNotFoundError:
        return InventoryDevice(name, members)
    return InventoryDevice(
        name,
        members,
        # A volume repeats its members' flag, also where they are not watched.
        claims_rotational=bool(device.rotational) and not device.slaves,
        file_backed=device.backing_file is not None,
    )
