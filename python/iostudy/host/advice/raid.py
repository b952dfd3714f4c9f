"""Rules for RAID arrays and for volumes of unlike disks."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.host.advice.facts import DeviceFacts, Facts
from iostudy.host.advice.finding import AdviceRule, Certainty, Observation, format_command
from iostudy.host.device_kinds import DeviceKind
from iostudy.host.raid_arrays import RaidArray
from iostudy.host.topology import DeviceNode
from iostudy.host.volumes import volume_of_image
from iostudy.units import format_percent, format_size

_MD = "Documentation/admin-guide/md.rst of the kernel"


def _moving_data(facts: Facts) -> Iterator[Observation]:
    for node, array in _arrays(facts):
        if array.action is not None and array.action.moves_data:
            done = "" if array.progress is None else f", {format_percent(array.progress)} done"
            yield Observation(
                subject=node.name,
                found=f"{array.action}{done}",
                advised="measure after it has ended",
                evidence=f"/sys/block/{node.name}/md/sync_action",
                command=format_command(["mdadm", "--wait", str(node.device.path)]),
            )


def _degraded(facts: Facts) -> Iterator[Observation]:
    for node, array in _arrays(facts):
        if array.missing:
            yield Observation(
                subject=node.name,
                found=f"{array.level} with {array.missing} of {array.members} members missing",
                advised="replace them, and wait for the recovery",
                evidence=f"/sys/block/{node.name}/md/degraded",
                command=format_command(["mdadm", "--detail", str(node.device.path)]),
            )


def _bitmap(facts: Facts) -> Iterator[Observation]:
    for node, array in _arrays(facts):
        if array.bitmap is not None:
            path = str(node.device.path)
            yield Observation(
                subject=node.name,
                found=f"a bit for each {format_size(array.bitmap.chunk_bytes)}, "
                f"at {array.bitmap.location}",
                advised="compare with the array without it",
                evidence=f"/sys/block/{node.name}/md/bitmap/location and chunksize",
                command=format_command(["mdadm", "--grow", "--bitmap=none", path]),
            )


def _lvm(facts: Facts) -> Iterator[Observation]:
    inner = (node.names[0] for node in facts.topology.nodes if node.kind is DeviceKind.LVM)
    for name in dict.fromkeys(filter(None, map(volume_of_image, inner))):
        yield Observation(
            subject=name,
            found="a mirrored or RAID volume; sysfs does not show its synchronisation",
            advised="measure when Cpy%Sync is 100.00",
            evidence=f"its inner volumes, {name}_rimage_N or {name}_mimage_N",
            command=format_command(["lvs", "-o", "name,sync_percent,raid_sync_action", name]),
        )


def _arrays(facts: Facts) -> Iterator[tuple[DeviceNode, RaidArray]]:
    return ((node, node.array) for node in facts.topology.nodes if node.array is not None)


RULES = (
    AdviceRule(
        id="raid-moving-data",
        title="An array is being synchronised, checked or reshaped",
        certainty=Certainty.FACT,
        why="The array reads and writes its members, and adapts its speed to the measured load "
        "(sync_speed_min, sync_speed_max).",
        source=f"{_MD}, sync_action",
        check=_moving_data,
    ),
    AdviceRule(
        id="raid-degraded",
        title="An array has lost members",
        certainty=Certainty.FACT,
        why="Reads of missing data use the other members, or half of a mirror. Figures are not "
        "those of the complete array, and the next failure may lose data.",
        source=f"{_MD}, degraded",
        check=_degraded,
    ),
    AdviceRule(
        id="raid-write-bitmap",
        title="An array has a write-intent bitmap",
        certainty=Certainty.MEASURE,
        why="The first write to a region waits until its bit is on the members, so scattered "
        "synchronous writes cost more; a larger region costs less. Without a bitmap, all of the "
        "array is synchronised after a crash: `mdadm --grow --bitmap=internal` adds it again.",
        source="md(4), BITMAP WRITE-INTENT LOGGING; mdadm(8), --bitmap-chunk",
        check=_bitmap,
    ),
    AdviceRule(
        id="lvm-raid-sync-unseen",
        title="The synchronisation of an LVM volume is not visible without root",
        certainty=Certainty.FACT,
        why="The first synchronisation of a mirror takes hours of disk time. Report R3 waited for "
        "it before measuring.",
        source="lvmraid(7); dm-raid.rst of the kernel (the state is in the device's status, which "
        "takes an ioctl as root)",
        check=_lvm,
    ),
)


_SEPARATE = ("linear", "container", "multipath")
"""Levels of md without a request on several members."""
_ORIGINS = ("_corig", "_wcorig")
"""LVM's names of a slow volume below a fast cache (lvmcache(7))."""


def _mixed(facts: Facts) -> Iterator[Observation]:
    for node in facts.topology.nodes:
        if not _shares_work(facts, node):
            continue
        kinds: dict[str, list[str]] = {}
        for disk in {d.name: d for d in _disks_below(facts, node)}.values():
            description = f"{disk.node.kind} {disk.node.device.model}".strip()
            kinds.setdefault(description, []).append(disk.name)
        if len(kinds) > 1:
            yield Observation(
                subject=node.name,
                found="; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items()),
                advised="disks of one model",
                evidence=f"device/model and queue/rotational of the disks below {node.name}",
                command=format_command(
                    ["lsblk", "--inverse", "-o", "NAME,MODEL,ROTA,SIZE", str(node.device.path)]
                ),
            )


def _shares_work(facts: Facts, node: DeviceNode) -> bool:
    """Whether the node spreads or copies each request over its members."""
    if node.array is not None:
        return node.array.level not in _SEPARATE
    if node.kind is not DeviceKind.LVM:
        return False
    device = facts.device(node.name)
    unit, width = (device.number(name) or 0 for name in ("minimum_io_size", "optimal_io_size"))
    below = (facts.topology.by_name[name] for name in node.below)
    names = [name for lower in below for name in lower.names[:1]]
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


MEMBER_RULES = (
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
