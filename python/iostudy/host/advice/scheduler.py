"""Rules for the I/O scheduler of each kind of device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from iostudy.host.advice.facts import DeviceFacts, Facts
from iostudy.host.advice.finding import (
    STREAMING_WRITES,
    AdviceRule,
    Certainty,
    Observation,
    set_command,
    study_command,
)
from iostudy.host.device_kinds import DeviceKind
from iostudy.host.devices import Scheduler

_SETTING = "block.scheduler"
_NONE = ("none", "noop")
_DEADLINE = ("mq-deadline", "deadline")
_ZONE_LOCKING = ((4, 16), (6, 10))
"""From Linux 4.16 until before 6.10, only deadline and mq-deadline order writes to a zone."""
_READER = {"order": "random", "record_size": "4KiB", "direct": True, "duration": "10s"}
_WRITER = {"operation": "write", "overwrite": True, "record_size": "512KiB", "direct": True}
_INTERFERENCE = {
    "mix": {
        "figure": "reader.read_latency_p99",
        "workloads": {"reader": {"io": _READER}, "writer": {"io": _WRITER}},
    }
}
"""A mix: random reads while a stream of writes is at work."""
_RED_HAT = "Red Hat Enterprise Linux 8 and 9, Setting the disk scheduler"


def _zoned(facts: Facts) -> Iterator[Observation]:
    first, end = _ZONE_LOCKING
    if not first <= facts.host.kernel < end:
        return
    for disk, scheduler in _scheduled(facts):
        if disk.node.zoned == "host-managed" and scheduler.current not in _DEADLINE:
            yield from _instead(disk, scheduler, _DEADLINE, f"queue/zoned: {disk.node.zoned}")


def _rotational(facts: Facts) -> Iterator[Observation]:
    for disk, scheduler in _scheduled(facts):
        plain = disk.node.kind is DeviceKind.ROTATIONAL and not _paths(facts, disk)
        if plain and scheduler.current in _NONE and not disk.node.is_zoned:
            yield from _instead(disk, scheduler, _DEADLINE, "queue/rotational: 1")


def _nvme(facts: Facts) -> Iterator[Observation]:
    for disk, scheduler in _scheduled(facts):
        if disk.node.kind is DeviceKind.NVME and not disk.node.is_zoned:
            yield from _measured(facts, disk, scheduler, _INTERFERENCE)


def _multipath(facts: Facts) -> Iterator[Observation]:
    for disk, scheduler in _scheduled(facts):
        for multipath in _paths(facts, disk):
            upper = multipath.scheduler
            if scheduler.current not in _NONE and upper is not None and upper.schedules:
                above = f"{multipath.name} offers {' '.join(upper.available)}"
                yield from _instead(disk, scheduler, _NONE, above)


def _virtual(facts: Facts) -> Iterator[Observation]:
    for disk, scheduler in _scheduled(facts):
        if disk.node.kind is DeviceKind.VIRTUAL:
            yield from _measured(facts, disk, scheduler, STREAMING_WRITES)


def _measured(
    facts: Facts, disk: DeviceFacts, scheduler: Scheduler, workload: Mapping[str, Any]
) -> Iterator[Observation]:
    """Propose a study of all schedulers; nothing without a mount to write to."""
    others = (other for other in scheduler.available if other != scheduler.current)
    if entry := facts.place_over(disk.name):
        levels = (scheduler.current, *others)
        yield Observation(
            subject=disk.name,
            found=scheduler.current,
            advised="the fastest level in a study",
            evidence=f"a {disk.node.kind} that offers {' '.join(scheduler.available)}",
            command=study_command(entry, _SETTING, levels, workload),
        )


def _scheduled(facts: Facts) -> Iterator[tuple[DeviceFacts, Scheduler]]:
    for disk in facts.disks:
        if disk.scheduler and disk.scheduler.schedules:
            yield disk, disk.scheduler


def _instead(
    disk: DeviceFacts, scheduler: Scheduler, wanted: tuple[str, ...], evidence: str
) -> Iterator[Observation]:
    """Suggest the first wanted scheduler that the queue offers; nothing if it offers none."""
    advised = next((name for name in wanted if name in scheduler.available), None)
    if advised:
        yield Observation(
            subject=disk.name,
            found=scheduler.current,
            advised=advised,
            evidence=evidence,
            command=set_command(_SETTING, advised, disk.name),
        )


def _paths(facts: Facts, disk: DeviceFacts) -> tuple[DeviceFacts, ...]:
    """Return the multipath devices above the disk."""
    upper = (node for node in facts.topology.above(disk.name) if node.kind is DeviceKind.MULTIPATH)
    return tuple(facts.device(node.name) for node in upper)


_rule = partial(AdviceRule, setting=_SETTING)

RULES = (
    _rule(
        id="scheduler-zoned",
        title="A zoned disk requires mq-deadline on this kernel",
        certainty=Certainty.FACT,
        why="Writes to a zone must be in order. From Linux 4.16 to 6.9 only (mq-)deadline ensures "
        "that; since 6.10 the block layer does, under any scheduler.",
        source='kernel commit dd291d77cc90, "block: Introduce zone write plugging" (6.10)',
        check=_zoned,
    ),
    _rule(
        id="scheduler-multipath-path",
        title="The scheduler of a multipath path is bypassed",
        certainty=Certainty.FACT,
        why="Request-based multipath passes requests to the paths without their schedulers: "
        "sorting happens in the queue of the multipath device. Set that one; a scheduler on "
        "the path only costs CPU time.",
        source="blk_insert_cloned_request() in block/blk-mq.c; drivers/md/dm-rq.c of the kernel",
        check=_multipath,
    ),
    _rule(
        id="scheduler-rotational",
        title="A rotational disk without a scheduler",
        certainty=Certainty.RECOMMENDATION,
        why="A scheduler sorts requests by position and so saves seeks; the kernel's default for a "
        "disk with one queue is mq-deadline. The disk may be a RAID controller that sorts requests "
        "itself: then measure instead.",
        source=f"{_RED_HAT}: HDD with a SCSI interface, mq-deadline or bfq",
        check=_rotational,
    ),
    _rule(
        id="scheduler-nvme",
        title="The scheduler of an NVMe device depends on what else it does",
        certainty=Certainty.MEASURE,
        why="A scheduler costs CPU time on every request, which limits a fast device: Red Hat "
        "advises none. It can also save a reader most of its wait for writers. A study of 2024 "
        "measured overheads of up to 63 %, and under kyber and bfq 99th percentiles up to 99 % "
        "lower. Distributions disagree, and have changed sides. The command compares that "
        "percentile for a reader with a writer at work.",
        source=f"{_RED_HAT}: NVMe, none; Ren, Doekemeijer, Tehrany and Trivedi, BFQ, "
        "Multiqueue-Deadline, or Kyber?, ICPE 2024",
        check=_nvme,
    ),
    _rule(
        id="scheduler-virtual",
        title="A virtual disk is scheduled in the guest and in the host",
        certainty=Certainty.MEASURE,
        why="The scheduling of the hypervisor is not visible. Report R4 ranked four schedulers in "
        "opposite order on two virtual clusters, with differences below 1 %.",
        source="report R4 (a paper of 2014); Documentation/block/switching-sched.rst of the kernel",
        check=_virtual,
    ),
)
