"""Rules for writers paused at the dirty limit, and for memory that the host faults in (pure).

Above (limit + background limit) / 2 dirty pages the kernel pauses writers until they are as slow as
the device. Source: mm/page-writeback.c, dirty_freerun_ceiling() and
balance_dirty_pages().

With free page reporting the guest gives free memory back to the host
(Documentation/mm/free_page_reporting.rst). The host serves a later access in the middle of an
instruction, so the guest counts the time as system time of the allocating process: a writer
through the page cache looks as if it computed.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.evidence import (
    Confidence,
    ConfidenceThresholds,
    Evidence,
    build_evidence,
    format_number,
    lowest_confidence,
)
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


COST = ConfidenceThresholds(1, 1.5, 2)
"""Milliseconds of system time for each MiB by which the page cache grows from free memory. With
memory of the guest's own it was 0.1 to 0.7 ms, with memory of the host 1.2 to 4 ms."""
HELD = ConfidenceThresholds(50, 65, 80)
"""Percent of the time of one core. A choice: most of a thread's time, as for a busy core."""
_REQUEST_MS = 0.02
"""System time of a request of the device, which is not that of the memory: a generous estimate."""
_KB_PER_MIB = 1024


def find_first_touch(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find first touches of memory in a virtual machine whose writers were hardly paused."""
    machine = summary.machine
    if not context.virtual_machine or THROTTLED.grade(machine.get("%throttled", 0.0)):
        return
    cost, mib_per_second = _cost(summary), machine.get("cache_growth_kB/s", 0.0) / _KB_PER_MIB
    held = min(100.0, cost * mib_per_second / 10)  # ms per second to percent
    grades = COST.grade(cost), HELD.grade(held)
    if not all(grades):
        return
    known = Confidence.HIGH if context.free_page_reporting else Confidence.MEDIUM
    figures = f"{format_number(cost)} ms of system time per MiB of page cache from free memory"
    growth = f"{format_number(mib_per_second)} MiB/s of it"
    yield Finding(
        Bottleneck.FIRST_TOUCH,
        "",
        held,
        lowest_confidence(known, *(grade for grade in grades if grade)),
        (
            Evidence("cache_growth_ms/MiB", "", cost, "ms/MiB", figures),
            Evidence("cache_growth_kB/s", "", mib_per_second, "MiB/s", growth),
            *_reporting(context),
        ),
        explains=(Bottleneck.CPU, Bottleneck.CORE),
    )


def _cost(summary: TelemetrySummary) -> float:
    """Return the cost of growth without that of the devices' requests, 0 if unknown."""
    machine = summary.machine
    if not machine.get("cache_growth_ms/MiB") or not machine.get("cache_growth_kB/s"):
        return 0.0
    requests = sum(own["r/s"] + own["w/s"] for own in summary.devices.values())
    per_mib = requests * _KB_PER_MIB / machine["cache_growth_kB/s"]
    return max(0.0, machine["cache_growth_ms/MiB"] - _REQUEST_MS * per_mib)


def _reporting(context: DiagnosisContext) -> Iterator[Evidence]:
    if context.free_page_reporting:
        says = "the host takes free memory back (free page reporting)"
        yield Evidence("free_page_reporting", "", 1.0, "", says)
