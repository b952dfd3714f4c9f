"""Rules for RAID arrays that synchronise or are degraded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from iostudy.host.advice.commands import format_command
from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import AdviceRule, Certainty, Observation
from iostudy.host.device_kinds import DeviceKind
from iostudy.host.raid_arrays import RaidArray
from iostudy.host.topology import DeviceNode
from iostudy.units import format_percent

_MD = "Documentation/admin-guide/md.rst of the kernel"
_LVM_LEG = re.compile(r"(?P<volume>.*)_[rm]image_\d+")


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


def _lvm(facts: Facts) -> Iterator[Observation]:
    for name in dict.fromkeys(_mirrored(facts)):
        yield Observation(
            subject=name,
            found="a mirrored or RAID volume; sysfs does not show its synchronisation",
            advised="measure when Cpy%Sync is 100.00",
            evidence=f"its inner volumes, {name}_rimage_N or {name}_mimage_N",
            command=format_command(["lvs", "-o", "name,sync_percent,raid_sync_action", name]),
        )


def _arrays(facts: Facts) -> Iterator[tuple[DeviceNode, RaidArray]]:
    return ((node, node.array) for node in facts.topology.nodes if node.array is not None)


def _mirrored(facts: Facts) -> Iterator[str]:
    """Yield the mirrored volumes: ``vg0/home`` of ``vg0/home_rimage_0``."""
    for node in facts.topology.nodes:
        match = _LVM_LEG.fullmatch(node.names[0]) if node.kind is DeviceKind.LVM else None
        if match:
            yield match["volume"]


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
