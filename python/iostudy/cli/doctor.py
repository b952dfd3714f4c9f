"""``iostudy doctor``: print the storage stack, its faults and their remedies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal, assert_never

import typer

from iostudy.cli.arguments import Json
from iostudy.cli.console import (
    Branch,
    print_command,
    print_json,
    print_line,
    print_table,
    print_tree,
)
from iostudy.cli.settings import HERE, read_settings
from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import Certainty, DoctorFinding
from iostudy.host.advice.gather import gather_facts
from iostudy.host.advice.registry import evaluate_rules
from iostudy.host.device_kinds import DeviceKind
from iostudy.host.inventory import collect_inventory
from iostudy.host.raid_arrays import RaidArray
from iostudy.host.topology import DeviceNode, MountEntry, Topology
from iostudy.report.base import Value, declare_schema
from iostudy.settings import catalog
from iostudy.study.declared_settings import declare_files
from iostudy.units import format_rounded_size


def doctor(
    place: Annotated[
        str | None,
        typer.Argument(
            metavar="[PATH|DEVICE]",
            help="Print only this place and the devices below and above it.",
            show_default="all",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show the storage stack, its faults and their remedies.

    Each fault has its reason, its certainty and a command. Nothing is changed.
    """
    facts = gather_facts(place)
    findings = evaluate_rules(facts)
    if json:
        places = [Path(place)] if place and Path(place).is_dir() else []
        print_json(build_document(facts, findings, collect_inventory(places)))
        return
    print_tree(build_trees(facts.topology))
    for certainty in Certainty:
        _print_group(certainty, [f for f in findings if f.certainty is certainty])
    _print_refused(facts)
    _print_declared()


def heading(certainty: Certainty) -> str:
    """Heading of the findings of a certainty."""
    match certainty:
        case Certainty.FACT:
            return "Facts: they follow from what the kernel or a manual says"
        case Certainty.RECOMMENDATION:
            return "Recommendations: common advice, which may not fit this host"
        case Certainty.MEASURE:
            return "To be measured: it depends on the workload, and a study can show it"
        case _:
            assert_never(certainty)


def _print_group(certainty: Certainty, findings: Sequence[DoctorFinding]) -> None:
    if not findings:
        return
    print_line()
    print_line(heading(certainty), style="bold")
    for _, same in groupby(findings, key=lambda finding: finding.id):
        _print_rule(list(same))


def _print_declared() -> None:
    """Print the settings that files of the host and the user declare, with their values."""
    names = declare_files()
    if not names:
        return
    values, refused = read_settings([catalog.get(name) for name in names], [HERE])
    print_line()
    print_line("Settings of settings.d", style="bold")
    print_table(("", ""), [(label, value) for label, (value, _) in values.items()])
    for error in refused:
        print_line(f"{error.wanted}: {error.found}")


def _print_rule(findings: Sequence[DoctorFinding]) -> None:
    """All that one rule has found: the places in a table, what it says of them once."""
    first = findings[0]
    print_line()
    print_line(f"{first.id}: {first.title}")
    same = groupby(findings, key=lambda finding: (finding.found, finding.advised))
    places = [("", ", ".join(finding.subject for finding in group), *key) for key, group in same]
    print_table(("", "where", "found", "advised"), places)
    print_table(("", "", ""), list(_explanation(findings)))
    commands = list(dict.fromkeys(finding.command for finding in findings))
    # Of studies the first shows how the others are made.
    for command in commands[:1] if first.certainty is Certainty.MEASURE else commands:
        print_command(command)


def _explanation(findings: Sequence[DoctorFinding]) -> Iterator[tuple[str, str, str]]:
    first = findings[0]
    settings = dict.fromkeys(finding.setting for finding in findings if finding.setting)
    if settings:
        yield "", "setting", ", ".join(settings)
    yield "", "why", first.why
    yield "", "source", first.source
    for evidence in dict.fromkeys(finding.evidence for finding in findings):
        yield "", "evidence", evidence


def _print_refused(facts: Facts) -> None:
    if not facts.refused:
        return
    print_line()
    print_line("Not checked, since it could not be read", style="bold")
    for refusal in facts.refused:
        print_line(f"  {refusal}")


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
    array: RaidArray | None
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

    schema_name: Literal["iostudy.doctor/1"] = declare_schema("iostudy.doctor/1")
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
        apart=[_mount(entry) for entry in topology.deviceless_mounts],
        findings=[DoctorFindingReport.copy_from(f, setting=f.setting or None) for f in findings],
        not_read=list(facts.refused),
    )
    return report.model_dump(by_alias=True)


def _device(node: DeviceNode, topology: Topology) -> DeviceReport:
    device = node.device
    loops = [loop for entry in topology.places_on(node.name) for loop in topology.loops_in(entry)]
    return DeviceReport.copy_from(
        node,
        number=device.number,
        size_bytes=device.size_bytes,
        model=device.model,
        backing_file=str(device.backing_file) if device.backing_file else None,
        above=[upper.name for upper in (*topology.above(node.name), *loops)],
        mounts=[_mount(entry) for entry in topology.places_on(node.name)],
    )


def _mount(entry: MountEntry) -> MountReport:
    return MountReport.copy_from(entry, point=str(entry.mount.point), source=entry.mount.source)


def build_trees(topology: Topology) -> tuple[Branch, ...]:
    """A tree for each device that lies on no other, then one for each mount without a device.

    What lies on several devices is drawn in full below the first of them, and named below the
    others.
    """
    drawing = _TreeBuilder(topology)
    disks = tuple(drawing.device(node) for node in topology.roots)
    return (*disks, *(drawing.mount(entry) for entry in topology.deviceless_mounts))


def describe_device(node: DeviceNode) -> str:
    """``253:2 = dm-2 = vg0/home = vg0-home, 2.00 TiB, LVM``."""
    return ", ".join((_names(node), format_rounded_size(node.device.size_bytes), *_details(node)))


def describe_mount(entry: MountEntry) -> str:
    """``ext4 on /home (rw,noatime)``; what has no device is named by its source."""
    source = "" if entry.devices else f" from {entry.mount.source}"
    return f"{entry.filesystem}{source} on {entry.mount.point} ({','.join(entry.options)})"


class _TreeBuilder:
    """Draws a topology, and remembers what has been drawn already."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._drawn: set[str] = set()

    def device(self, node: DeviceNode) -> Branch:
        if node.name in self._drawn:
            return Branch(f"{_names(node)}: drawn above")
        self._drawn.add(node.name)
        places = self._topology.places_on(node.name)
        # A file system on several devices is drawn below the first of them.
        mounts = (self.mount(entry) for entry in places if entry.devices[0] == node.name)
        above = (self.device(upper) for upper in self._topology.above(node.name))
        return Branch(describe_device(node), (*mounts, *above))

    def mount(self, entry: MountEntry) -> Branch:
        loops = (self.device(loop) for loop in self._topology.loops_in(entry))
        return Branch(describe_mount(entry), tuple(loops))


def _names(node: DeviceNode) -> str:
    return " = ".join(filter(None, (node.device.number, node.name, *node.names)))


def _details(node: DeviceNode) -> Iterator[str]:
    if node.array:
        missing = f", {node.array.missing} missing" if node.array.missing else ""
        yield f"md {node.array.level} of {node.array.members} members{missing}"
    else:
        yield str(node.kind)
    if node.is_zoned:
        yield f"zoned ({node.zoned})"
    if node.device.model and not node.device.partition_of:
        yield node.device.model
    if node.device.backing_file:
        yield str(node.device.backing_file)
    if node.device.read_only:
        yield "read only"
    if node.filesystem:
        yield f"holds {node.filesystem}"
