"""Rule for volumes of unlike disks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from iostudy.host.advice.commands import format_command
from iostudy.host.advice.facts import DeviceFacts, Facts
from iostudy.host.advice.finding import AdviceRule, Certainty, Observation
from iostudy.host.device_kinds import DeviceKind
from iostudy.host.topology import DeviceNode
from iostudy.host.volumes import volume_of_image


def _mixed(facts: Facts) -> Iterator[Observation]:
    for node in facts.topology.nodes:
        kinds = _group(_disks_below(facts, node)) if _shares_work(facts, node) else {}
        if len(kinds) > 1:
            yield _observe(node, kinds)


def _shares_work(facts: Facts, node: DeviceNode) -> bool:
    """Whether the node spreads or copies each request over its members."""
    if node.kind is DeviceKind.ARRAY:
        return True
    if node.kind is not DeviceKind.LVM:
        return False
    device = facts.device(node.name)
    unit, width = (device.number(name) or 0 for name in ("minimum_io_size", "optimal_io_size"))
    below = (facts.topology.by_name[name] for name in node.below)
    images = (volume_of_image(name) for each in below for name in each.names[:1])
    return 0 < unit < width or any(images)


def _disks_below(facts: Facts, node: DeviceNode) -> Iterator[DeviceFacts]:
    """Yield the disks below a node, each once."""
    below = facts.topology.select_related([node.name]).nodes
    yield from (facts.device(each.name) for each in below if each.kind.is_disk)


def _group(disks: Iterator[DeviceFacts]) -> Mapping[str, Sequence[str]]:
    """Return the names of the disks by technology and model."""
    groups: dict[str, list[str]] = {}
    for disk in disks:
        description = f"{disk.node.kind} {disk.node.device.model}".strip()
        groups.setdefault(description, []).append(disk.name)
    return groups


def _observe(node: DeviceNode, kinds: Mapping[str, Sequence[str]]) -> Observation:
    return Observation(
        subject=node.name,
        found="; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items()),
        advised="disks of one model",
        evidence=f"device/model and queue/rotational of the disks below {node.name}",
        command=format_command(
            ["lsblk", "--inverse", "-o", "NAME,MODEL,ROTA,SIZE", str(node.device.path)]
        ),
    )


RULES = (
    AdviceRule(
        id="volume-mixed-members",
        title="A volume consists of unlike disks",
        certainty=Certainty.RECOMMENDATION,
        why="A stripe, a mirrored write and a resync wait for the slowest disk, and the smallest "
        "disk decides how much space of each is used.",
        source="md(4), RAID0 to RAID6; lvmraid(7)",
        check=_mixed,
    ),
)
