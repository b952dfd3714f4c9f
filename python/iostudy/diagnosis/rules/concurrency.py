"""A workload that asks for too little at once: each of its threads waits for its own answer (pure).

By Little's law the requests in the device's queue are the rate times the wait. Where they are about
as many as the workload has under way in all, it waits for each of them, and the device could begin
others meanwhile - unless it is saturated, which is `device`'s to say.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Confidence, Evidence, Finding
from iostudy.diagnosis.context import DiagnosisContext, OperatingPoint
from iostudy.diagnosis.demand import Demand, demand, queue
from iostudy.diagnosis.rules.device import BUSY, DEEP, QUEUED, can_do_more
from iostudy.diagnosis.thresholds import ConfidenceThresholds, at_most, number
from iostudy.telemetry.summary import TelemetrySummary

WAITING = ConfidenceThresholds(40, 50, 60)
"""Percent of what the workload has under way that waited in the device, on average. A choice around
one half: from there on more of it waits for the device than does anything else."""
PAUSED = 10.0
"""%throttled from which on what waits may be paused writers, and the queue the kernel's own: a
choice, below the least at which writeback is told."""
SPARE = BUSY.low
"""%util below which the device stood still while the workload could have asked for more: where
`device.BUSY` begins, so that one run is not told as both."""


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """Concurrency, if the workload waited for each request and the device could do more."""
    if any(own.stores for own in ground.serial):
        return  # how much of what it has under way waited for that is told, and judged by `serial`
    asked = demand(seen, ground)
    if asked is None or not asked.concurrency or seen.machine.get("%throttled", 0.0) >= PAUSED:
        return
    inside = min(queue(seen, ground), asked.waiting)
    share = min(100.0, 100 * inside / asked.concurrency)
    waits, spare = WAITING.grade(share), _spare(seen, ground)
    if waits and spare:
        confidence, evidence = spare
        yield Finding(
            Bottleneck.CONCURRENCY,
            "",
            share,
            at_most(waits, confidence),
            (_asked(asked, inside), *evidence),
        )


def _asked(asked: Demand, inside: float) -> Evidence:
    says = f"{number(inside)} of {number(asked.concurrency)} at once waited for the device"
    return Evidence("aqu-sz", "", inside, "requests", says)


def _spare(
    seen: TelemetrySummary, ground: DiagnosisContext
) -> tuple[Confidence, tuple[Evidence, ...]] | None:
    """How sure it is that more could have been asked for, and why; None if it could not."""
    device = ground.busiest(seen)
    figures = seen.devices.get(device)
    point = OperatingPoint.of(figures) if figures else None
    if point and (more := can_do_more(ground, device, point)):
        says = f"the device did {number(point.per_second)} requests/s, and"
        says += f" {number(more.per_second)} in another run with a queue of {number(more.queue)}"
        evidence = Evidence("requests/s", device, more.per_second, "1/s", says)
        return Confidence.HIGH, (evidence,)
    disks = ground.disks(device, seen)
    waiting = max((own["aqu-sz"] for own in disks.values()), default=queue(seen, ground))
    if waiting >= DEEP.low:
        return None
    if figures is None:
        return Confidence.MEDIUM, ()
    util = max(own["%util"] for own in disks.values())
    evidence = Evidence("%util", device, util, "%", f"the device busy {number(util)} %")
    sure = util < SPARE or waiting < QUEUED
    return (Confidence.MEDIUM if sure else Confidence.LOW), (evidence,)
