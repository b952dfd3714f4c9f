"""Rule for volumes of unlike disks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from iostudy.host.advice.commands import format_command
from iostudy.host.advice.facts import DeviceFacts, Facts
from iostudy.host.advice.finding import AdviceRule, Certainty, Observation
from iostudy.host.device_kinds import DeviceKind
from iostudy.host.topology import DeviceNode
from iostudy.host.volumes import volume_of_image

_SEPARATE = ("linear", "container", "multipath")
"""Levels of md without a request on several members."""
_ORIGINS = ("_corig", "_wcorig")
"""LVM's names of a slow volume below a fast cache (lvmcache(7))."""


def _mixed(facts: Facts) -> Iterator[Observation]:
    for node in facts.topology.nodes:
        kinds = (
            _group({d.name: d for d in _disks_below(facts, node)}.values())
            if _shares_work(facts, node)
            else {}
        )
        if len(kinds) > 1:
            yield _observe(node, kinds)


def _shares_work(facts: Facts, node: DeviceNode) -> bool:
    """Whether the node spreads or copies each request over its members."""
    if node.array is not None:
        return node.array.level not in _SEPARATE
    if node.kind is not DeviceKind.LVM:
        return False
    device = facts.device(node.name)
    unit, width = (device.number(name) or 0 for name in ("minimum_io_size", "optimal_io_size"))
    below = (facts.topology.by_name[name] for name in node.below)
    names = [name for each in below for name in each.names[:1]]
    if any(name.endswith(_ORIGINS) for name in names):
        return False
    return 0 < unit < width or any(map(volume_of_image, names))


def _disks_below(facts: Facts, node: DeviceNode) -> Iterator[DeviceFacts]:
    """Yield the disks that hold a share of the data of a node."""
    if node.kind.is_disk:
        yield facts.device(node.name)
    for name in node.below:
        if node.array is None or name not in node.array.auxiliary:
            yield from _disks_below(facts, facts.topology.by_name[name])


def _group(disks: Iterable[DeviceFacts]) -> Mapping[str, Sequence[str]]:
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
