"""Rule for a serial resource within the workload: a lock or a log (pure).

The workload reports for how much of their time its operations waited for it. By Amdahl's law its
removal gains at most that. A log that starts a batch when the previous one is durable can leave
its device idle for much of the time and still be what all operations wait for.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.confidence import Confidence, lowest_confidence
from iostudy.diagnosis.context import DiagnosisContext, SerialUsage
from iostudy.diagnosis.evidence import Evidence, format_busy, format_number
from iostudy.diagnosis.thresholds import ELASTICITY, UTILIZATION
from iostudy.telemetry.summary import TelemetrySummary


def find_serial_resources(
    summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Finding]:
    """Find each serial resource that operations waited for while it was in use."""
    for resource in context.serial:
        yield from _find_waits(resource, summary, context)


def _find_waits(
    resource: SerialUsage, summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Finding]:
    # While it was not in use, operations waited for something else, such as a CPU.
    held = resource.waited if resource.used is None else min(resource.waited, resource.used)
    if confidence := ELASTICITY.grade(held):
        known = Confidence.MEDIUM if resource.used is None else Confidence.HIGH
        yield Finding(
            Bottleneck.LOG if resource.stores else Bottleneck.LOCK,
            resource.name,
            held,
            lowest_confidence(confidence, known),
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
