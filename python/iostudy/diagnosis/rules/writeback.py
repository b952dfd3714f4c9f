"""Rule for writeback throttling: writers paused at the dirty limit (pure).

Above (limit + background limit) / 2 dirty pages the kernel pauses writers until they are as slow as
the device. Source: mm/page-writeback.c, dirty_freerun_ceiling() and
balance_dirty_pages().
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.confidence import ConfidenceThresholds
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.evidence import build_evidence
from iostudy.telemetry.summary import TelemetrySummary

THROTTLED = ConfidenceThresholds(25, 50, 75)
"""Percent of the time above that ceiling. Dirty memory stays there only while writers are as fast
as the device; a first burst below the ceiling is free. A choice around one half."""
WRITER_SHARE = 10.0
"""Percent of the devices' writes from which on the workload is a writer. A choice, above the
journal and access-time writes of a reader."""


def find_writeback_throttling(
    summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Finding]:
    """Find writeback throttling if the workload wrote and dirty memory was at the ceiling."""
    machine = summary.machine
    confidence = THROTTLED.grade(machine.get("%throttled", 0.0))
    if confidence is None or not _is_writer(summary, context):
        return
    evidence = [build_evidence(machine, "%throttled", "", "%", "writers paused {} % of the time")]
    if "dirty_limit_kB" in machine:
        evidence.append(build_evidence(machine, "dirty_limit_kB", "", "kB", "dirty limit {} kB"))
    yield Finding(
        Bottleneck.WRITEBACK,
        "",
        machine["%throttled"],
        confidence,
        tuple(evidence),
        explains=(Bottleneck.CONCURRENCY,),
    )


def _is_writer(summary: TelemetrySummary, context: DiagnosisContext) -> bool:
    if "written_kB" not in summary.workload:
        return True
    written = sum(own["kB_wrtn"] for own in context.device_figures(summary).values())
    return summary.workload["written_kB"] > WRITER_SHARE / 100 * written
