"""Workloads that neither computed nor transferred data, so that no device limited them (pure)."""

from __future__ import annotations

from iostudy.diagnosis.attribution import compute_workload_kb
from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.demand import compute_demand
from iostudy.diagnosis.evidence import format_number
from iostudy.diagnosis.thresholds import MINIMUM_HELD
from iostudy.telemetry.summary import TelemetrySummary

_PROGRAM_KB = 1024
"""kB. Reading a program and its libraries takes a few hundred; a choice."""
_SLEPT_FOR = frozenset({Bottleneck.NETWORK, Bottleneck.NFS})
"""Bottlenecks that a sleeping thread waits for. For a CPU or a disk it waits in another state."""


def describe_idleness(summary: TelemetrySummary, context: DiagnosisContext) -> str:
    """Describe a workload that did almost nothing; "" for any other, or an unknown one.

    A program may wait for asynchronous requests asleep. So one with data of its own is not idle,
    and neither is one that has a known number of operations under way.
    """
    demand, moved_kb = compute_demand(summary, context), compute_workload_kb(summary)
    if demand is None or moved_kb is None or context.concurrency is not None:
        return ""
    active = 100 * max(demand.on_cpu, demand.running + demand.waiting)
    if active >= MINIMUM_HELD or moved_kb > _PROGRAM_KB:
        return ""
    return (
        "the workload itself did almost nothing: it needed a CPU or waited for storage "
        f"{format_number(active)} % of the time, and read and wrote {format_number(moved_kb)} kB"
    )


def can_limit_idle(limit: Bottleneck) -> bool:
    """Return whether it may be the bottleneck of a workload that did almost nothing."""
    return limit in _SLEPT_FOR
