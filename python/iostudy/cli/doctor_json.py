"""``iostudy doctor --json``: its document, in the form that ``doctor.schema.json`` describes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import Certainty, Finding
from iostudy.host.device_kinds import DeviceKind
from iostudy.host.raid_arrays import SyncAction
from iostudy.host.topology import DeviceNode, MountEntry, Topology


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MountReport(_Model):
    """A mount: its folder, and the options of the mount and of its file system."""

    point: str
    filesystem: str
    source: str
    options: list[str]


class ArrayReport(_Model):
    """An md array; ``progress`` is the fraction done of what is under way."""

    level: str
    members: int
    missing: int
    action: SyncAction | None
    progress: float | None


class DeviceReport(_Model):
    """A block device: ``below`` it lies on, ``above`` is made of it, by the kernel's names."""

    name: str
    number: str
    names: list[str]
    kind: DeviceKind
    zoned: str
    size_bytes: int
    model: str
    filesystem: str
    backing_file: str | None
    array: ArrayReport | None
    below: list[str]
    above: list[str]
    mounts: list[MountReport]


class FindingReport(_Model):
    """Finding of a rule; ``setting`` is null if it concerns no setting of iostudy."""

    id: str
    title: str
    subject: str
    setting: str | None
    found: str
    advised: str
    why: str
    evidence: str
    source: str
    certainty: Certainty
    command: str


class DoctorReport(_Model):
    """The document: the host, its storage stack, the mounts without a device, and the findings."""

    schema_name: Literal["iostudy.doctor/1"] = Field(
        default="iostudy.doctor/1", serialization_alias="schema"
    )
    host: dict[str, Any]
    stack: list[DeviceReport]
    apart: list[MountReport]
    findings: list[FindingReport]
    not_read: list[str]


def build_document(
    facts: Facts, findings: Sequence[Finding], host: Mapping[str, Any]
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


def build_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the document; ``doctor.schema.json`` here is its copy."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **DoctorReport.model_json_schema(mode="serialization"),
    }


def format_schema() -> str:
    """The content of ``doctor.schema.json``."""
    return json.dumps(build_schema(), indent=2, ensure_ascii=False) + "\n"


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
        array=ArrayReport(**vars(array)) if array else None,
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


def _finding(finding: Finding) -> FindingReport:
    return FindingReport(**{**vars(finding), "setting": finding.setting or None})
