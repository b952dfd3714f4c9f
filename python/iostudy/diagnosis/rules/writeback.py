"""Writers paused, as too much was dirty (pure).

Above the ceiling (limit + background limit) / 2 of dirty pages the kernel makes writers pause until
they are as slow as the device. Source: mm/page-writeback.c, dirty_freerun_ceiling() and
balance_dirty_pages().
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.thresholds import ConfidenceThresholds, told
from iostudy.telemetry.summary import TelemetrySummary

THROTTLED = ConfidenceThresholds(25, 50, 75)
"""Percent of the time above the ceiling. It stays there only while pages are dirtied as fast as
they are written; a first burst that fills memory below it is free. A choice around one half."""
OWN = 10.0
"""Percent of what the devices wrote: from here on the workload is a writer. A choice, above what
journals and access times of one that reads come to."""


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """Writeback, if the workload wrote and there was too much dirty for most of the time."""
    machine = seen.machine
    confidence = THROTTLED.grade(machine.get("%throttled", 0.0))
    if confidence is None or not _writes(seen, ground):
        return
    evidence = [told(machine, "%throttled", "", "%", "writers paused {} % of the time")]
    if "dirty_limit_kB" in machine:
        evidence.append(told(machine, "dirty_limit_kB", "", "kB", "above a limit of {} kB dirty"))
    yield Finding(
        Bottleneck.WRITEBACK,
        "",
        machine["%throttled"],
        confidence,
        tuple(evidence),
        explains=(Bottleneck.CONCURRENCY,),
    )


def _writes(seen: TelemetrySummary, ground: DiagnosisContext) -> bool:
    if "written_kB" not in seen.workload:
        return True
    below = sum(own["kB_wrtn"] for own in ground.known(seen).values())
    return seen.workload["written_kB"] > OWN / 100 * below
