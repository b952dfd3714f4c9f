"""The device as the limit: busy, and with no more to give (pure).

Gregg's USE method asks of a resource its utilization and its saturation. The first alone says
nothing of a device that serves several requests at once (iostat(1) on %util; the kernel's
Documentation/admin-guide/iostats.rst, field 10): the second has to come from what the device has
shown in other runs, from its make, or from its queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from iostudy.diagnosis.bottleneck import Bottleneck, Confidence, Evidence, Finding
from iostudy.diagnosis.context import DiagnosisContext, OperatingPoint
from iostudy.diagnosis.thresholds import ConfidenceThresholds, at_most, number, told
from iostudy.telemetry.summary import Figures, TelemetrySummary

BUSY = ConfidenceThresholds(80, 90, 95)
"""%util of a device that could not have been used much longer: the rest is start and end. By
Amdahl's law what makes the rest shorter saves at most that share: a fifth, a tenth, a twentieth."""
DEEP = ConfidenceThresholds(4, 30, float("inf"))
"""Requests at once in a disk from which on a queue speaks for saturation, though not with
certainty: a disk with platters serves one at a time, a flash disk as many as its channels, which
nobody tells. The first is a choice: few devices of today serve fewer at once. The second is a
little less than the 32 that the command queue of a SATA disk holds, and that flash disks are rated
at: one that is kept full has not quite as many on average."""
QUEUED = 2.0
"""Requests at once from which on, at a disk that serves one at a time, there is always one that
waits while another is served."""
_WAITED = 2.0
"""Times as long as in a short queue: a request then waits as long as it is served, so that half of
the queue adds no throughput (Little's law)."""
MORE = 1.25
"""A rate this many times as high is a difference between runs, and no noise: a choice, beyond a
noise of 15 % a trial as docs/method.md simulates it. With a queue 1.5 times as long a device that
was not saturated would give up to 1.5 times as much."""
_SAME = 1.1
"""A rate at most this many times as high is no more: a choice well below MORE, so that what lies
between the two says neither that the device could do more nor that it could not."""


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """Every device of the target that was busy all the time and could not have done more."""
    for device, figures in ground.known(seen).items():
        yield from _busy(device, figures, ground.disks(device, seen), ground)
        yield from _flushing(device, figures)


def busy_time(seen: TelemetrySummary, ground: DiagnosisContext) -> Evidence | None:
    """For how much of the time any of the target's devices was, at most; None without figures."""
    known = ground.known(seen)
    if not known:
        return None
    # The kernel counts a flush that others are merged into apart from %util (block/blk-flush.c),
    # and no two devices need have been busy at the same time.
    sum_of_all = sum(own["%util"] + _flushing_percent(own) for own in known.values())
    percent = min(100.0, sum_of_all)
    return Evidence("busy", ground.named, percent, "%", f"{number(percent)} % of the time")


def can_do_more(
    ground: DiagnosisContext, device: str, here: OperatingPoint
) -> OperatingPoint | None:
    """Where the device has shown clearly more of like I/O with a longer queue, if it has."""
    best = max(ground.deeper(device, here), key=lambda point: point.per_second, default=None)
    return best if best and best.per_second >= MORE * here.per_second else None


def _busy(
    device: str, figures: Figures, disks: Mapping[str, Figures], ground: DiagnosisContext
) -> Iterator[Finding]:
    """Of a volume also one of its disks must have been: it is busy as soon as any of them is."""
    point = OperatingPoint.of(figures)
    busy = BUSY.grade(min(figures["%util"], max(own["%util"] for own in disks.values())))
    if point is None or busy is None or can_do_more(ground, device, point):
        return
    if saturated := _saturation(
        device, point, ground, max(own["aqu-sz"] for own in disks.values())
    ):
        confidence, evidence = saturated
        util = told(figures, "%util", device, "%", "busy {} % of the time")
        queue = told(figures, "aqu-sz", device, "requests", "a queue of {}")
        yield Finding(
            Bottleneck.DEVICE,
            device,
            figures["%util"],
            at_most(busy, confidence),
            (util, queue, *evidence),
            explains=(Bottleneck.WRITEBACK, Bottleneck.LOG, Bottleneck.CONCURRENCY),
        )


def _saturation(
    device: str, point: OperatingPoint, ground: DiagnosisContext, inside: float
) -> tuple[Confidence, tuple[Evidence, ...]] | None:
    """How sure it is that the device had no more to give, and why."""
    if ground.is_rotational(device):
        alone = point.queue < QUEUED
        return (Confidence.MEDIUM if alone else Confidence.HIGH), ()
    if evidence := _flat(device, point, ground) or _queued(device, point, ground):
        return Confidence.HIGH, (evidence,)
    deep = DEEP.grade(inside)
    return (deep, ()) if deep else None


def _flat(device: str, point: OperatingPoint, ground: DiagnosisContext) -> Evidence | None:
    """A longer queue gave no more: the curve of throughput over concurrency is past its knee."""
    most = max(ground.deeper(device, point), key=lambda other: other.per_second, default=None)
    if most is None or not point.per_second / MORE <= most.per_second <= _SAME * point.per_second:
        return None
    says = f"in another run with a queue of {number(most.queue)} no more"
    says += f" than {number(most.per_second)}/s"
    return Evidence("requests/s", device, most.per_second, "1/s", says)


def _queued(device: str, point: OperatingPoint, ground: DiagnosisContext) -> Evidence | None:
    """Requests that only wait for each other add no throughput, by Little's law."""
    least = min(ground.shallow(device, point), key=lambda other: other.wait_ms, default=None)
    if least is None or point.wait_ms < _WAITED * least.wait_ms:
        return None
    says = f"{number(point.wait_ms)} ms a request, {number(least.wait_ms)} in a short queue"
    return Evidence("await", device, point.wait_ms, "ms", says)


def _flushing(device: str, figures: Figures) -> Iterator[Finding]:
    """Flushes of the device's cache are done one after the other (block/blk-flush.c)."""
    share = min(100.0, _flushing_percent(figures))
    if confidence := BUSY.grade(share):
        says = f"flushing its cache {number(share)} % of the time"
        each = told(figures, "f_await", device, "ms", "{} ms each time")
        evidence = (Evidence("f/s x f_await", device, share, "%", says), each)
        yield Finding(
            Bottleneck.DEVICE,
            device,
            share,
            confidence,
            evidence,
            explains=(Bottleneck.LOG, Bottleneck.CONCURRENCY),
        )


def _flushing_percent(figures: Figures) -> float:
    """Of the time; above 100 where flushes wait for each other."""
    return figures["f/s"] * figures["f_await"] / 10
