"""RAID that is busy with itself, or not whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

from iostudy.host.advice.commands import joined
from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import Certainty, Rule, Sighting
from iostudy.host.arrays import Array
from iostudy.host.kinds import Kind
from iostudy.host.topology import Node
from iostudy.units import format_percent

_MD = "Documentation/admin-guide/md.rst of the kernel"
_LVM_LEG = re.compile(r"(?P<volume>.*)_[rm]image_\d+")


def _moving_data(facts: Facts) -> Iterator[Sighting]:
    for node, array in _arrays(facts):
        if array.action is not None and array.action.moves_data:
            done = "" if array.progress is None else f", {format_percent(array.progress)} done"
            yield Sighting(
                subject=node.name,
                found=f"{array.action}{done}",
                advised="measure when it has ended",
                evidence=f"/sys/block/{node.name}/md/sync_action",
                command=joined(["mdadm", "--wait", str(node.device.path)]),
            )


def _degraded(facts: Facts) -> Iterator[Sighting]:
    for node, array in _arrays(facts):
        if array.missing:
            yield Sighting(
                subject=node.name,
                found=f"{array.level} with {array.missing} of {array.members} members missing",
                advised="replace them, and wait for the recovery",
                evidence=f"/sys/block/{node.name}/md/degraded",
                command=joined(["mdadm", "--detail", str(node.device.path)]),
            )


def _lvm(facts: Facts) -> Iterator[Sighting]:
    for name in dict.fromkeys(_mirrored(facts)):
        yield Sighting(
            subject=name,
            found="a mirrored or RAID volume; sysfs does not tell whether it is in sync",
            advised="measure when Cpy%Sync is 100.00",
            evidence=f"its inner volumes, {name}_rimage_N or {name}_mimage_N",
            command=joined(["lvs", "-o", "name,sync_percent,raid_sync_action", name]),
        )


def _arrays(facts: Facts) -> Iterator[tuple[Node, Array]]:
    return ((node, node.array) for node in facts.topology.nodes if node.array is not None)


def _mirrored(facts: Facts) -> Iterator[str]:
    """The volumes that have legs: ``vg0/home`` of ``vg0/home_rimage_0``."""
    for node in facts.topology.nodes:
        match = _LVM_LEG.fullmatch(node.names[0]) if node.kind is Kind.LVM else None
        if match:
            yield match["volume"]


RULES = (
    Rule(
        id="raid-moving-data",
        title="An array is being synchronised, checked or reshaped",
        certainty=Certainty.FACT,
        why="It reads and writes its members meanwhile, and slows down or speeds up with the "
        "load that is being measured (sync_speed_min, sync_speed_max).",
        source=f"{_MD}, sync_action",
        check=_moving_data,
    ),
    Rule(
        id="raid-degraded",
        title="An array has lost members",
        certainty=Certainty.FACT,
        why="Reads of what was on them are made from the others, or from half of a mirror; the "
        "figures are not those of the whole array, and the next failure may lose data.",
        source=f"{_MD}, degraded",
        check=_degraded,
    ),
    Rule(
        id="lvm-raid-sync-unseen",
        title="Whether a volume of LVM is in sync is not to be seen without root",
        certainty=Certainty.FACT,
        why="The first synchronisation of a mirror takes hours and its disks' time. Report R3 "
        "waited for it before measuring.",
        source="lvmraid(7); dm-raid.rst of the kernel (the state is in the device's status, which "
        "takes an ioctl as root)",
        check=_lvm,
    ),
)
