"""The I/O scheduler against the kind of device."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from iostudy.host.advice.commands import set_command, study_command
from iostudy.host.advice.facts import DeviceFacts, Facts
from iostudy.host.advice.finding import Certainty, Rule, Sighting
from iostudy.host.devices import Scheduler
from iostudy.host.kinds import Kind

_SETTING = "block.scheduler"
_NONE = ("none", "noop")
_DEADLINE = ("mq-deadline", "deadline")
_ZONE_LOCKING = ((4, 16), (6, 10))
"""From Linux 4.16 until before 6.10 only deadline and mq-deadline keep a zone's writes in order."""
_RED_HAT = "Red Hat Enterprise Linux 8 and 9, Setting the disk scheduler"


def _zoned(facts: Facts) -> Iterator[Sighting]:
    first, end = _ZONE_LOCKING
    if not first <= facts.host.kernel < end:
        return
    for disk, scheduler in _scheduled(facts):
        if disk.node.zoned == "host-managed" and scheduler.current not in _DEADLINE:
            yield from _instead(disk, scheduler, _DEADLINE, f"queue/zoned: {disk.node.zoned}")


def _rotational(facts: Facts) -> Iterator[Sighting]:
    for disk, scheduler in _scheduled(facts):
        plain = disk.node.kind is Kind.ROTATIONAL and not _paths(facts, disk)
        if plain and scheduler.current in _NONE and not disk.node.is_zoned:
            yield from _instead(disk, scheduler, _DEADLINE, "queue/rotational: 1")


def _nvme(facts: Facts) -> Iterator[Sighting]:
    for disk, scheduler in _scheduled(facts):
        plain = disk.node.kind is Kind.NVME and not disk.node.is_zoned
        if plain and scheduler.current not in _NONE:
            yield from _instead(disk, scheduler, _NONE, "an NVMe device")


def _multipath(facts: Facts) -> Iterator[Sighting]:
    for disk, scheduler in _scheduled(facts):
        for multipath in _paths(facts, disk):
            if scheduler.current not in _NONE and _schedules(multipath):
                above = f"{multipath.name} offers {_offered(multipath)}"
                yield from _instead(disk, scheduler, _NONE, above)


def _virtual(facts: Facts) -> Iterator[Sighting]:
    for disk, scheduler in _scheduled(facts):
        place = facts.place_over(disk.name)
        if disk.node.kind is Kind.VIRTUAL and place:
            levels = (scheduler.current, *(o for o in scheduler.offered if o != scheduler.current))
            yield Sighting(
                subject=disk.name,
                found=scheduler.current,
                advised="whatever is fastest here",
                evidence=f"a virtual disk that offers {' '.join(scheduler.offered)}",
                command=study_command(place, _SETTING, levels, "dfsio-write"),
            )


def _scheduled(facts: Facts) -> Iterator[tuple[DeviceFacts, Scheduler]]:
    for disk in facts.disks:
        if disk.scheduler and disk.scheduler.schedules:
            yield disk, disk.scheduler


def _instead(
    disk: DeviceFacts, scheduler: Scheduler, wanted: tuple[str, ...], evidence: str
) -> Iterator[Sighting]:
    """The first of those wanted that the queue offers; nothing where it offers none of them."""
    advised = next((name for name in wanted if name in scheduler.offered), None)
    if advised:
        yield Sighting(
            subject=disk.name,
            found=scheduler.current,
            advised=advised,
            evidence=evidence,
            command=set_command(_SETTING, advised, disk.name),
        )


def _paths(facts: Facts, disk: DeviceFacts) -> tuple[DeviceFacts, ...]:
    """The multipath devices that the disk is a path of."""
    upper = (node for node in facts.topology.above(disk.name) if node.kind is Kind.MULTIPATH)
    return tuple(facts.device(node.name) for node in upper)


def _schedules(device: DeviceFacts) -> bool:
    return device.scheduler is not None and device.scheduler.schedules


def _offered(device: DeviceFacts) -> str:
    return " ".join(device.scheduler.offered) if device.scheduler else "none"


_rule = partial(Rule, setting=_SETTING)

RULES = (
    _rule(
        id="scheduler-zoned",
        title="A zoned disk needs mq-deadline on this kernel",
        certainty=Certainty.FACT,
        why="Writes to a zone must come in order. From Linux 4.16 to 6.9 only (mq-)deadline sees "
        "to that; since 6.10 the block layer does, under any scheduler.",
        source='kernel commit dd291d77cc90, "block: Introduce zone write plugging" (6.10)',
        check=_zoned,
    ),
    _rule(
        id="scheduler-multipath-path",
        title="A path's scheduler does not see what comes through multipath",
        certainty=Certainty.FACT,
        why="Request-based multipath hands requests to the paths past their schedulers: sorting "
        "happens in the multipath device's own queue. Set that one; on the path it only costs.",
        source="blk_insert_cloned_request() in block/blk-mq.c; drivers/md/dm-rq.c of the kernel",
        check=_multipath,
    ),
    _rule(
        id="scheduler-rotational",
        title="A rotational disk without a scheduler",
        certainty=Certainty.RECOMMENDATION,
        why="A scheduler sorts requests by place and so saves seeks. What looks like a disk may "
        "be a RAID controller that sorts for itself: then measure instead.",
        source=f"{_RED_HAT}: HDD with a SCSI interface, mq-deadline or bfq",
        check=_rotational,
    ),
    _rule(
        id="scheduler-nvme",
        title="An NVMe device with a scheduler",
        certainty=Certainty.RECOMMENDATION,
        why="There are no seeks to save, the device has many queues of its own, and sorting "
        "costs CPU time on every request.",
        source=f"{_RED_HAT}: the default for NVMe is none, and should not be changed",
        check=_nvme,
    ),
    _rule(
        id="scheduler-virtual",
        title="A virtual disk is scheduled here and once more below",
        certainty=Certainty.MEASURE,
        why="What the hypervisor does with the requests cannot be seen from here. Report R4 "
        "ranked four schedulers in opposite order on two virtual clusters, with differences "
        "below 1 %.",
        source="report R4 (a paper of 2014); Documentation/block/switching-sched.rst of the kernel",
        check=_virtual,
    ),
)
