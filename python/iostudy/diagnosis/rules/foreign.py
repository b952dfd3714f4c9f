"""Rule for other processes that used the target's devices or the CPU (pure).

`telemetry.foreign_io` says how much I/O was that of others. A process is only named if its own
requests to a device were counted. Others only take CPU time from a workload that waited for a CPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iostudy.diagnosis.bottleneck import OF_A_SLOW_DEVICE, Bottleneck, Finding
from iostudy.diagnosis.context import (
    DiagnosisContext,
    compute_workload_kb,
    count_allowed_cores,
    format_allowed_cores,
    has_restricted_affinity,
)
from iostudy.diagnosis.demand import compute_demand
from iostudy.diagnosis.evidence import (
    CPU_STARVED,
    ELASTICITY,
    MAJORITY,
    Confidence,
    Evidence,
    format_number,
)
from iostudy.diagnosis.rules.device import find_saturation
from iostudy.telemetry.processes import compute_foreign_kb, compute_moved_kb, find_submitters
from iostudy.telemetry.summary import TelemetrySummary

FOREIGN_CPU = "foreign_%cpu"
"""The figure with the CPU time of all other processes, in percent of one core."""


def find_foreign_io(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find others by the excess on the target's devices, or by counted I/O on a disk below."""
    workload_kb, targets = compute_workload_kb(summary), tuple(context.device_figures(summary))
    if workload_kb is None or not targets:
        return
    below = {disk for name in targets for disk in context.disk_figures(name, summary)}
    foreign_kb = {targets: compute_foreign_kb(summary, targets, workload_kb)}
    for disk in sorted(below - set(targets)):
        foreign_kb[disk,] = sum(submitter.kB for submitter in find_submitters(summary, [disk]))
    grades = (_grade_foreign_io(summary, context, *item) for item in foreign_kb.items())
    findings = [finding for finding in grades if finding is not None]
    yield from sorted(findings, key=lambda finding: finding.held or 0.0, reverse=True)[:1]


def _grade_foreign_io(
    summary: TelemetrySummary, context: DiagnosisContext, devices: Sequence[str], foreign_kb: float
) -> Finding | None:
    """Grade the share of others, if the device had no capacity left for the workload."""
    busiest = max(devices, key=lambda name: summary.devices[name]["%util"])
    figures, moved_kb = summary.devices[busiest], compute_moved_kb(summary, devices)
    saturation = next(find_saturation(busiest, summary, context), None)
    demand = compute_demand(summary, context)
    share = min(100.0, 100 * foreign_kb / moved_kb) if moved_kb else 0.0
    # In a full queue a process has the share of its requests.
    grade = ELASTICITY.grade(share * (demand.waiting_share if demand else 1.0))
    if grade is None or saturation is None:
        return None
    confidence = Confidence.lowest(grade, saturation.confidence)
    submitters = find_submitters(summary, devices)
    is_counted = sum(submitter.kB for submitter in submitters) >= MAJORITY * foreign_kb
    names = " and ".join(devices)
    says = f"{format_number(share)} % of the I/O on {names} was not the workload's"
    return Finding(
        Bottleneck.FOREIGN,
        submitters[0].title if is_counted else "",
        figures["%util"] * share / 100,
        confidence if is_counted else Confidence.LOW,
        (
            Evidence("kB", busiest, foreign_kb, "kB", says),
            Evidence.read(figures, "%util", busiest, "%", "the device busy {} % of the time"),
        ),
        explains=OF_A_SLOW_DEVICE,
    )


def find_foreign_cpu(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find others that used much of the CPU time that the workload needed."""
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
    if confidence := ELASTICITY.grade(share * demand.cpu_share):
        name, says = _name_busiest(summary), f"{format_number(share)} % of all CPU time"
        if has_restricted_affinity(summary):
            # Which process computed on which core is unknown.
            name, says = "", f"up to {format_number(share)} % of {format_allowed_cores(summary)}"
            confidence = Confidence.lowest(confidence, Confidence.MEDIUM)
        yield Finding(
            Bottleneck.FOREIGN,
            name,
            100 * demand.starved_share,
            confidence,
            (Evidence(FOREIGN_CPU, "", machine[FOREIGN_CPU], "%", f"other processes used {says}"),),
            explains=(Bottleneck.CPU, Bottleneck.CORE),
        )


def _name_busiest(summary: TelemetrySummary) -> str:
    """Return the process with most of the CPU time of all others; "" if none has."""
    others = summary.machine[FOREIGN_CPU] / 100 * summary.seconds
    busiest = max(summary.foreign, key=lambda process: process.cpu_seconds, default=None)
    if busiest is None or busiest.cpu_seconds < MAJORITY * others:
        return ""
    return f"{busiest.name}, process {busiest.pid}"
