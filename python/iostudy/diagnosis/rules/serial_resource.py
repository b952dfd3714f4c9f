"""What serves the workload's own operations one after the other: a lock, or a log (pure).

The workload tells for how much of their time its operations waited for such a thing. By Amdahl's
law that is the most that could be gained without it. A log whose next batch is begun when the one
before is durable can leave its device idle for much of the time, and be all that is waited for.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Confidence, Evidence, Finding
from iostudy.diagnosis.context import DiagnosisContext, SerialUsage
from iostudy.diagnosis.rules.device import BUSY
from iostudy.diagnosis.thresholds import ConfidenceThresholds, at_most, number
from iostudy.telemetry.summary import TelemetrySummary

WAITED = ConfidenceThresholds(40, 50, 60)
"""Percent of the operations' time: as `concurrency.WAITING`, for the same reason. Around one half
they wait for it as long as they do anything else, and without it would be twice as fast. A busier
step, as `device.BUSY`, would never be reached by a lock: of two threads that need nothing else each
waits for half of the time."""


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """Each of them that was waited for while it was at work."""
    for own in ground.serial:
        yield from _waited_for(own, seen, ground)


def _waited_for(
    own: SerialUsage, seen: TelemetrySummary, ground: DiagnosisContext
) -> Iterator[Finding]:
    # While it was not at work, what was waited for was something else, as others' turn on a CPU.
    held = own.waited if own.used is None else min(own.waited, own.used)
    if confidence := WAITED.grade(held):
        known = Confidence.MEDIUM if own.used is None else Confidence.HIGH
        yield Finding(
            Bottleneck.LOG if own.stores else Bottleneck.LOCK,
            own.name,
            held,
            at_most(confidence, known),
            tuple(_evidence(own, seen, ground)),
            explains=(Bottleneck.CONCURRENCY,),
        )


def _evidence(
    own: SerialUsage, seen: TelemetrySummary, ground: DiagnosisContext
) -> Iterator[Evidence]:
    says = f"its threads waited for it {number(own.waited)} % of their time"
    yield Evidence("waited", own.name, own.waited, "%", says)
    if own.used is not None:
        says = f"it was at work {number(own.used)} % of the run"
        yield Evidence("used", own.name, own.used, "%", says)
    if own.stores:
        yield from _device(seen, ground)


def _device(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Evidence]:
    """The busiest device, and what follows where it was idle in between."""
    device = ground.busiest(seen)
    if not device:
        return
    util = seen.devices[device]["%util"]
    says = f"{device} was busy {number(util)} %"
    if util < BUSY.low:
        says += ", so that what ends each write or sync sooner helps and more bandwidth does not"
    yield Evidence("%util", device, util, "%", says)
