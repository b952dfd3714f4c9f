"""Rules for low concurrency: threads that wait for their own requests, a lock or a log (pure).

By Little's law the number of requests in the device is the rate times the wait. If that is about
the workload's concurrency, the workload waits for each request, and the device could serve others
meanwhile, unless it is saturated (rule `device`).

The workload reports for how much of their time its operations waited for a serial resource. By
Amdahl's law its removal gains at most that. A log that starts a batch when the previous one is
durable can leave its device idle for much of the time and still be what all operations wait for.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.context import DiagnosisContext, OperatingPoint, SerialUsage
from iostudy.diagnosis.demand import compute_demand, count_queued_requests
from iostudy.diagnosis.evidence import (
    ELASTICITY,
    MOSTLY_IDLE,
    UTILIZATION,
    Confidence,
    Evidence,
    format_busy,
    format_number,
)
from iostudy.diagnosis.rules.device import DEEP, find_higher_throughput
from iostudy.telemetry.summary import TelemetrySummary

PAUSED = 10.0
"""%throttled from which on waiting threads may be paused writers, and the queue the kernel's
writeback: a choice, below the lowest threshold of the rule `writeback`."""
MUCH_HIGHER_RATE = 1.5
"""A rate this many times as high is more than half of what twice the requests could give."""
SPARE = UTILIZATION.low
"""%util below which the device was idle while the workload could have requested more: the start of
`evidence.UTILIZATION`, so that both rules do not match one run."""


def find_low_concurrency(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find low concurrency: the workload waited for each request and the device could do more."""
    if any(resource.stores for resource in context.serial):
        return  # the rule `serial_resource` judges those waits
    demand = compute_demand(summary, context)
    if demand is None or summary.machine.get("%throttled", 0.0) >= PAUSED:
        return
    inside = min(count_queued_requests(summary, context), demand.waiting)
    share = min(100.0, 100 * inside / demand.concurrency)
    waits, spare = ELASTICITY.grade(share), _find_spare_capacity(summary, context)
    if waits and spare:
        confidence, evidence = spare
        says = f"{format_number(inside)} of {format_number(demand.concurrency)} concurrent requests"
        says += " waited for the device"
        yield Finding(
            Bottleneck.CONCURRENCY,
            "",
            share,
            Confidence.lowest(waits, confidence),
            (Evidence("aqu-sz", "", inside, "requests", says), *evidence),
        )


def _find_spare_capacity(
    summary: TelemetrySummary, context: DiagnosisContext
) -> tuple[Confidence, tuple[Evidence, ...]] | None:
    """Return the confidence that the device could do more, and the evidence; None if not."""
    device = context.busiest_device(summary)
    figures = summary.devices.get(device)
    point = OperatingPoint.from_figures(figures) if figures else None
    if point and (more := find_higher_throughput(context, device, point)):
        says = f"the device did {format_number(point.per_second)} requests/s, and"
        says += f" {format_number(more.per_second)} in another run"
        says += f" with a queue of {format_number(more.queue)}"
        evidence = Evidence("requests/s", device, more.per_second, "1/s", says)
        is_much = more.per_second >= MUCH_HIGHER_RATE * point.per_second
        return (Confidence.HIGH if is_much else Confidence.LOW), (evidence,)
    disks = context.disk_figures(device, summary)
    waiting = max(
        (disk["aqu-sz"] for disk in disks.values()), default=count_queued_requests(summary, context)
    )
    if waiting >= DEEP.low:
        return None
    if figures is None:
        return Confidence.LOW, ()
    util = max(disk["%util"] for disk in disks.values())
    evidence = Evidence("%util", device, util, "%", f"the device busy {format_busy(util)} %")
    is_spare = util < (MOSTLY_IDLE if context.is_rotational(device) else SPARE)
    return (Confidence.MEDIUM if is_spare else Confidence.LOW), (evidence,)


def find_serial_resources(
    summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Finding]:
    """Find each serial resource that operations waited for while it was in use."""
    for resource in context.serial:
        # While it was not in use, operations waited for something else, such as a CPU.
        held = resource.waited if resource.used is None else min(resource.waited, resource.used)
        if confidence := ELASTICITY.grade(held):
            known = Confidence.MEDIUM if resource.used is None else Confidence.HIGH
            yield Finding(
                Bottleneck.LOG if resource.stores else Bottleneck.LOCK,
                resource.name,
                held,
                Confidence.lowest(confidence, known),
                tuple(_describe_waits(resource, summary, context)),
                explains=(Bottleneck.CONCURRENCY,),
            )


def _describe_waits(
    resource: SerialUsage, summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Evidence]:
    says = f"its threads waited for it {format_number(resource.waited)} % of their time"
    yield Evidence("waited", resource.name, resource.waited, "%", says)
    if resource.used is not None:
        says = f"it was in use {format_number(resource.used)} % of the run"
        yield Evidence("used", resource.name, resource.used, "%", says)
    if resource.stores:
        yield from _describe_device(summary, context)


def _describe_device(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Evidence]:
    """Describe the busiest device, and the consequence if it was idle in between."""
    device = context.busiest_device(summary)
    if not device:
        return
    util = summary.devices[device]["%util"]
    says = f"{device} was busy {format_busy(util)} %"
    if util < UTILIZATION.low:
        says += ", so that lower write and sync latency helps and more bandwidth does not"
    yield Evidence("%util", device, util, "%", says)
