"""``iostudy doctor --json``: its document, in the form that ``doctor.schema.json`` describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from pydantic import Field

from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import Certainty, DoctorFinding
from iostudy.host.device_kinds import DeviceKind
from iostudy.host.raid_arrays import SyncAction
from iostudy.host.topology import DeviceNode, MountEntry, Topology
from iostudy.report.base import Value


class MountReport(Value):
    """A mount."""

    point: str
    """Mount point."""
    filesystem: str
    """Type of the file system."""
    source: str
    """Mounted device or export, as in mountinfo."""
    options: list[str]
    """Options of the mount and of its file system."""


class BitmapReport(Value):
    """A write-intent bitmap of an array."""

    location: str
    """Its place as in sysfs, such as ``+8`` or ``file``."""
    chunk_bytes: int
    """Bytes of the array for each bit."""


class ArrayReport(Value):
    """A software RAID array (md)."""

    level: str
    """RAID level, such as ``raid5``."""
    members: int
    """Number of its devices when complete."""
    missing: int
    """Number of missing devices."""
    action: SyncAction | None
    """Background action, such as ``resync``; null if the level has none or it is unknown."""
    progress: float | None
    """Completed fraction of the action; null without one."""
    bitmap: BitmapReport | None
    """Write-intent bitmap; null without one."""
    auxiliary: list[str]
    """Kernel names of the members that are journal, spare, write-mostly or faulty."""
    inactive: list[str]
    """Kernel names of the members without a place in the array, such as idle spares."""


class DeviceReport(Value):
    """A block device."""

    name: str
    """Name in the kernel, such as ``dm-2``."""
    number: str
    """Device number: ``major:minor``."""
    names: list[str]
    """Other names of the device."""
    kind: DeviceKind
    """Kind of device."""
    zoned: str
    """Zone model in sysfs, such as ``host-managed``."""
    size_bytes: int
    """Size in bytes."""
    model: str
    """Model of the disk; empty if unknown."""
    filesystem: str
    """Type of its content; empty if unknown."""
    backing_file: str | None
    """File of a loop device; null for other devices."""
    array: ArrayReport | None
    """The array, if the device is one; otherwise null."""
    below: list[str]
    """Kernel names of the devices that it consists of."""
    above: list[str]
    """Kernel names of the devices that consist of it."""
    mounts: list[MountReport]
    """Mounts of its file system."""


class DoctorFindingReport(Value):
    """A finding of one rule."""

    id: str
    """Identifier of the rule; it never changes."""
    title: str
    """The problem in a few words."""
    subject: str
    """Device, mount or other object of the finding."""
    setting: str | None
    """Setting of iostudy that changes it; null without one."""
    found: str
    """Observed state."""
    advised: str
    """Advised state."""
    why: str
    """Consequences of the observed state."""
    evidence: str
    """Attributes or options that show the observed state."""
    source: str
    """Reference for the advice."""
    certainty: Certainty
    """Certainty of the finding."""
    command: str
    """Command that fixes or measures it, for a root shell."""


class DoctorReport(Value):
    """Storage stack of the host, with findings."""

    schema_name: Literal["iostudy.doctor/1"] = Field(
        default="iostudy.doctor/1", serialization_alias="schema"
    )
    """The form of this document; the number grows when a reader of the old form would fail."""
    host: dict[str, Any]
    """Inventory of the host, with its examined disks."""
    stack: list[DeviceReport]
    """Block devices of the storage stack."""
    apart: list[MountReport]
    """Mounts without a block device."""
    findings: list[DoctorFindingReport]
    """Findings of all rules."""
    not_read: list[str]
    """Files that could not be read; their rules give no finding."""


def build_document(
    facts: Facts, findings: Sequence[DoctorFinding], host: Mapping[str, Any]
) -> dict[str, Any]:
    """The document as plain values; of ``host`` only the disks that the facts are about."""
    topology = facts.topology
    disks = {node.device.disk for node in topology.nodes}
    kept = {name: disk for name, disk in host["block_devices"].items() if name in disks}
    report = DoctorReport(
        host={**host, "block_devices": kept},
        stack=[_device(node, topology) for node in topology.nodes],
        apart=[_mount(place) for place in topology.deviceless_mounts],
        findings=[_finding(finding) for finding in findings],
        not_read=list(facts.refused),
    )
    return report.model_dump(by_alias=True)


def _device(node: DeviceNode, topology: Topology) -> DeviceReport:
    device, array = node.device, node.array
    loops = [loop for place in topology.places_on(node.name) for loop in topology.loops_in(place)]
    return DeviceReport(
        name=node.name,
        number=device.number,
        names=list(node.names),
        kind=node.kind,
        zoned=node.zoned,
        size_bytes=device.size_bytes,
        model=device.model,
        filesystem=node.filesystem,
        backing_file=str(device.backing_file) if device.backing_file else None,
        array=ArrayReport(**asdict(array)) if array else None,
        below=list(node.below),
        above=[upper.name for upper in (*topology.above(node.name), *loops)],
        mounts=[_mount(place) for place in topology.places_on(node.name)],
    )


def _mount(place: MountEntry) -> MountReport:
    return MountReport(
        point=str(place.mount.point),
        filesystem=place.filesystem,
        source=place.mount.source,
        options=list(place.options),
    )


def _finding(finding: DoctorFinding) -> DoctorFindingReport:
    return DoctorFindingReport(**{**vars(finding), "setting": finding.setting or None})
