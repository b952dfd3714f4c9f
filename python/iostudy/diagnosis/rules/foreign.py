"""Rule for other processes that used the target's devices or the CPU (pure).

I/O of the devices beyond the workload's own is that of others. A process with much I/O is not
enough evidence: kernel threads move the workload's data a second time, to the device below a loop
device or a volume. Others only take CPU time from a workload that waited for a CPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.attribution import compute_workload_kb
from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.confidence import Confidence, ConfidenceThresholds, lowest_confidence
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.cores import (
    count_allowed_cores,
    format_allowed_cores,
    has_restricted_affinity,
)
from iostudy.diagnosis.demand import compute_demand
from iostudy.diagnosis.evidence import Evidence, build_evidence, format_number
from iostudy.diagnosis.thresholds import CPU_STARVED
from iostudy.telemetry.summary import ForeignProcess, TelemetrySummary

SHARE = ConfidenceThresholds(15, 30, 50)
"""Percent of the device's traffic, or of all CPU time. The kernel charges some I/O to no
process: journals, metadata, dirty pages of an earlier process. The values are a choice: from one
half on, more of it belongs to others than to the workload."""
USED = 50.0
"""%util below which the device had enough capacity left for the workload (as
`thresholds.MOSTLY_IDLE`)."""
FOREIGN_CPU = "foreign_%cpu"
"""The figure with the CPU time of all other processes, in percent of one core."""
UNKNOWN = "unknown"


def find_foreign_processes(
    summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Finding]:
    """Find the busiest other process if others used much of a resource that the workload needed."""
    yield from _find_foreign_io(summary, context)
    yield from _find_foreign_cpu(summary, context)


def _find_foreign_io(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    workload_kb, busiest = compute_workload_kb(summary), context.busiest_device(summary)
    if workload_kb is None or not busiest or summary.devices[busiest]["%util"] < USED:
        return
    known = context.device_figures(summary)
    moved = sum(figures["kB_read"] + figures["kB_wrtn"] for figures in known.values())
    excess = max(0.0, moved - workload_kb)
    confidence = SHARE.grade(100 * excess / moved) if moved else None
    if confidence:
        # The kernel does not report which device a process used: any with enough I/O may be it.
        suspects = [_name(each) for each in summary.foreign if _traffic(each) >= excess / 2]
        share = 100 * excess / moved
        says = (
            f"{format_number(share)} % of the I/O on {context.device_names} was not the workload's"
        )
        figures = known[busiest]
        util = build_evidence(figures, "%util", busiest, "%", "the device busy {} % of the time")
        yield Finding(
            Bottleneck.FOREIGN,
            " or ".join(suspects) or UNKNOWN,
            figures["%util"] * share / 100,
            confidence if suspects else Confidence.LOW,
            (Evidence("kB", busiest, excess, "kB", says), util),
            explains=(
                Bottleneck.DEVICE,
                Bottleneck.WRITEBACK,
                Bottleneck.LOG,
                Bottleneck.CONCURRENCY,
            ),
        )


def _find_foreign_cpu(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    machine, demand = summary.machine, compute_demand(summary, context)
    if (
        demand is None
        or demand.starved_share < CPU_STARVED
        or not machine.keys() >= {FOREIGN_CPU, "cores"}
    ):
        return
    # Others had at most the part of the allowed cores that the workload did not use itself.
    cores = count_allowed_cores(summary)
    share = min(machine[FOREIGN_CPU], 100 * max(0.0, cores - demand.on_cpu)) / cores
    if confidence := SHARE.grade(share):
        yield Finding(
            Bottleneck.FOREIGN,
            UNKNOWN if has_restricted_affinity(summary) else _name_busiest(summary),
            100 * demand.starved_share,
            lowest_confidence(
                confidence, *([Confidence.MEDIUM] if has_restricted_affinity(summary) else [])
            ),
            (
                Evidence(
                    FOREIGN_CPU, "", machine[FOREIGN_CPU], "%", _describe_share(summary, share)
                ),
            ),
            explains=(Bottleneck.CPU, Bottleneck.CORE),
        )


def _describe_share(summary: TelemetrySummary, share: float) -> str:
    """Describe the share; which process computed on which core is unknown."""
    if has_restricted_affinity(summary):
        cores = format_allowed_cores(summary)
        return f"other processes used up to {format_number(share)} % of {cores}"
    return f"other processes used {format_number(share)} % of all CPU time"


def _name_busiest(summary: TelemetrySummary) -> str:
    busiest = max(summary.foreign, key=lambda process: process.cpu_seconds, default=None)
    return _name(busiest) if busiest else UNKNOWN


def _traffic(process: ForeignProcess) -> float:
    return process.read_kB + process.written_kB


def _name(process: ForeignProcess) -> str:
    return f"{process.name}, process {process.pid}"
