"""Rule for a saturated device (pure).

Gregg's USE method examines the utilization and the saturation of a resource. Utilization alone
does not show the limit of a device that serves several requests at once (iostat(1) on %util; the
kernel's Documentation/admin-guide/iostats.rst, field 10). Saturation follows from the device's
other runs, from its type, or from its queue.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.context import DiagnosisContext, OperatingPoint
from iostudy.diagnosis.demand import compute_demand
from iostudy.diagnosis.evidence import (
    ELASTICITY,
    UTILIZATION,
    Confidence,
    ConfidenceThresholds,
    Evidence,
    format_number,
)
from iostudy.telemetry.summary import Figures, TelemetrySummary

DEEP = ConfidenceThresholds(4, 30, float("inf"))
"""Mean requests in a disk from which on the queue indicates saturation, without certainty: a disk
with platters serves one at a time, a flash disk as many as it has channels, which is unknown. The
first is a choice: few current devices serve fewer. The second is slightly below the 32 entries of
a SATA command queue, at which flash disks are rated as well; a full queue averages a bit less."""
QUEUED = 2.0
"""Mean requests in a disk that serves one at a time from which on one always waits."""
_LONGER_WAIT = 2.0
"""Wait relative to that in a short queue. From here on a request waits as long as it is served, so
that half of the queue adds no throughput (Little's law)."""
HIGHER_RATE = 1.25
"""A rate this many times as high is a difference between runs, not noise: a choice, beyond the
noise of 15 % a trial that docs/method/calibration.md simulates. With a queue 1.5 times as long an
unsaturated device would give up to 1.5 times the rate."""
_SAME_RATE = 1.1
"""A rate at most this many times as high is the same: a choice well below HIGHER_RATE. A value
between both shows neither that the device could do more nor that it could not."""


def find_saturated_devices(
    summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Finding]:
    """Find the target's devices that were busy all the time and could not do more."""
    for device in context.device_figures(summary):
        yield from find_saturation(device, summary, context)


def find_saturation(
    device: str, summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Finding]:
    """Find a device, the target's or one below, that could not do more."""
    figures = summary.devices[device]
    yield from _find_saturation(device, summary, context)
    yield from _find_flush_limit(device, figures)


def compute_busy_time(summary: TelemetrySummary, context: DiagnosisContext) -> Evidence | None:
    """Return the largest possible share of time with any target device busy; None if unknown."""
    figures = context.device_figures(summary)
    if not figures:
        return None
    # The kernel counts merged flushes separately from %util (block/blk-flush.c), and the devices
    # may all have been busy at different times.
    total = sum(disk["%util"] + _flushing_percent(disk) for disk in figures.values())
    percent = min(100.0, total)
    return Evidence(
        "busy", context.device_names, percent, "%", f"{format_number(percent)} % of the time"
    )


def find_higher_throughput(
    context: DiagnosisContext, device: str, point: OperatingPoint
) -> OperatingPoint | None:
    """Find a comparable point with a longer queue and a clearly higher rate; None without one."""
    best = context.fastest_longer_queue(device, point)
    return best if best and best.per_second >= HIGHER_RATE * point.per_second else None


def _find_saturation(
    device: str, summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Finding]:
    """A volume is busy as soon as one of its disks is, so that one disk must be busy as well."""
    figures, disks = summary.devices[device], context.disk_figures(device, summary)
    point = OperatingPoint.from_figures(figures)
    busy = UTILIZATION.grade(min(figures["%util"], max(disk["%util"] for disk in disks.values())))
    if point is None or busy is None or find_higher_throughput(context, device, point):
        return
    if saturated := _grade_saturation(
        device, point, context, max(disk["aqu-sz"] for disk in disks.values())
    ):
        confidence, evidence = saturated
        demand = compute_demand(summary, context)
        waits = ELASTICITY.grade(100 * demand.waiting_share) if demand else Confidence.HIGH
        confidence = Confidence.lowest(confidence, waits or Confidence.LOW)
        util = Evidence.read(figures, "%util", device, "%", "busy {} % of the time")
        queue = Evidence.read(figures, "aqu-sz", device, "requests", "a queue of {}")
        yield Finding(
            Bottleneck.DEVICE,
            device,
            figures["%util"],
            Confidence.lowest(busy, confidence),
            (util, queue, *evidence),
            explains=(Bottleneck.WRITEBACK, Bottleneck.LOG, Bottleneck.CONCURRENCY),
        )


def _grade_saturation(
    device: str, point: OperatingPoint, context: DiagnosisContext, inside: float
) -> tuple[Confidence, tuple[Evidence, ...]] | None:
    """Return the confidence that the device was saturated, and the evidence; None if not."""
    if context.is_rotational(device):
        is_short = point.queue < QUEUED
        return (Confidence.MEDIUM if is_short else Confidence.HIGH), ()
    if evidence := _find_flat_throughput(device, point, context) or _find_longer_wait(
        device, point, context
    ):
        return Confidence.HIGH, (evidence,)
    deep = DEEP.grade(inside)
    return (deep, ()) if deep else None


def _find_flat_throughput(
    device: str, point: OperatingPoint, context: DiagnosisContext
) -> Evidence | None:
    """Find a longer queue with the same rate: throughput over concurrency is past its knee."""
    most = context.fastest_longer_queue(device, point)
    if (
        most is None
        or not point.per_second / HIGHER_RATE <= most.per_second <= _SAME_RATE * point.per_second
    ):
        return None
    says = f"in another run with a queue of {format_number(most.queue)} no more"
    says += f" than {format_number(most.per_second)}/s"
    return Evidence("requests/s", device, most.per_second, "1/s", says)


def _find_longer_wait(
    device: str, point: OperatingPoint, context: DiagnosisContext
) -> Evidence | None:
    """Find a longer wait than in a short queue: by Little's law it adds no throughput."""
    least = min(
        context.short_queue_points(device, point), key=lambda other: other.wait_ms, default=None
    )
    if least is None or point.wait_ms < _LONGER_WAIT * least.wait_ms:
        return None
    says = f"{format_number(point.wait_ms)} ms a request"
    says += f", {format_number(least.wait_ms)} ms in a short queue"
    return Evidence("await", device, point.wait_ms, "ms", says)


def _find_flush_limit(device: str, figures: Figures) -> Iterator[Finding]:
    """Find a device that flushed its cache all the time: flushes are serial (block/blk-flush.c)."""
    share = min(100.0, _flushing_percent(figures))
    if confidence := UTILIZATION.grade(share):
        says = f"flushing its cache {format_number(share)} % of the time"
        wait = Evidence.read(figures, "f_await", device, "ms", "{} ms each time")
        evidence = (Evidence("f/s x f_await", device, share, "%", says), wait)
        yield Finding(
            Bottleneck.DEVICE,
            device,
            share,
            confidence,
            evidence,
            explains=(Bottleneck.LOG, Bottleneck.CONCURRENCY),
        )


def _flushing_percent(figures: Figures) -> float:
    """Percent of the time; above 100 if flushes wait for each other."""
    return figures["f/s"] * figures["f_await"] / 10
