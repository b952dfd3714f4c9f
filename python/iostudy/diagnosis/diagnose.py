"""Diagnosis of a run: all rules applied, and their findings ordered (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis, Finding
from iostudy.diagnosis.context import DiagnosisContext, compute_workload_kb
from iostudy.diagnosis.demand import compute_cpu_utilization, compute_demand
from iostudy.diagnosis.evidence import (
    MINIMUM_CAUSE_SHARE,
    MINIMUM_HELD,
    MINIMUM_MEASURED,
    MINIMUM_RUN_SECONDS,
    SHORT_RUN_SECONDS,
    Confidence,
    Evidence,
    format_number,
)
from iostudy.diagnosis.rules import (
    concurrency,
    device,
    foreign,
    memory,
    network,
    processor,
    rate_cap,
    slow_member,
)
from iostudy.diagnosis.rules.network import is_network_speed_known
from iostudy.telemetry.summary import TelemetrySummary

Rule = Callable[[TelemetrySummary, DiagnosisContext], Iterator[Finding]]
RULES: tuple[Rule, ...] = (
    rate_cap.find_rate_caps,
    slow_member.find_slow_members,
    device.find_saturated_devices,
    memory.find_writeback_throttling,
    memory.find_first_touch,
    processor.find_busy_processors,
    processor.find_cpu_quota,
    memory.find_memory_stalls,
    network.find_network_limits,
    network.find_slow_nfs_servers,
    processor.find_steal,
    processor.find_thermal_throttling,
    foreign.find_foreign_io,
    foreign.find_foreign_cpu,
    concurrency.find_serial_resources,
    concurrency.find_low_concurrency,
)


def diagnose(summary: TelemetrySummary, context: DiagnosisContext) -> Diagnosis:
    """Find the bottlenecks of a run, ordered by the share of the time that they held.

    A very short run has no findings: its shares of the CPU are a few ticks of 10 ms. Nothing but
    the network can have limited a workload that did almost nothing.
    """
    if summary.seconds < MINIMUM_RUN_SECONDS:
        return Diagnosis(
            key_figures=tuple(collect_key_figures(summary, context)),
            obstacle=f"{summary.seconds:.2f} s are too short; {MINIMUM_RUN_SECONDS:g} s are needed",
        )
    idleness = describe_idleness(summary, context)
    candidates = (finding for rule in RULES for finding in rule(summary, context))
    findings = [
        _limit_confidence(replace(candidate, of=context.title(candidate.of)), summary, context)
        for candidate in candidates
        if candidate.held is None or candidate.held >= MINIMUM_HELD
        if not idleness or candidate.limit in _SLEPT_FOR
    ]
    return Diagnosis(
        findings=tuple(_order(findings)),
        key_figures=tuple(collect_key_figures(summary, context)),
        missing=tuple(find_missing_figures(summary, context)),
        busy=device.compute_busy_time(summary, context),
        obstacle=idleness,
    )


def _limit_confidence(
    finding: Finding, summary: TelemetrySummary, context: DiagnosisContext
) -> Finding:
    """Lower the confidence if the run was short or the recording holds much else."""
    measured = summary.seconds if context.measured_seconds is None else context.measured_seconds
    percent = min(100.0, 100 * measured / summary.seconds)
    if percent < MINIMUM_MEASURED:
        says = f"{format_number(percent)} % of the recording was measured"
        part = Evidence("measured", "", percent, "%", says)
        finding = replace(finding, evidence=(*finding.evidence, part))
    elif summary.seconds >= SHORT_RUN_SECONDS:
        return finding
    return replace(finding, confidence=Confidence.LOW)


def _order(findings: Sequence[Finding]) -> list[Finding]:
    """Order causes, then consequences, then findings of low confidence; the longest first.

    Low concurrency as a consequence is left out: more requests at once would only wait longer. So
    is a busy CPU as a consequence of first touches: its time is theirs.
    """
    causes = [finding for finding in findings if not _is_explained(finding, findings)]
    consequences = [finding for finding in findings if finding not in causes]
    left_out = {Bottleneck.CONCURRENCY}
    if any(cause.limit is Bottleneck.FIRST_TOUCH for cause in causes):
        left_out |= {Bottleneck.CPU, Bottleneck.CORE}
    kept = causes + [c for c in consequences if c.limit not in left_out]

    def rank(finding: Finding) -> tuple[bool, bool, float]:
        is_unsure = finding.confidence is Confidence.LOW
        return is_unsure, finding in consequences, -(finding.held or 0.0)

    return sorted(kept, key=rank)


def _is_explained(finding: Finding, findings: Iterable[Finding]) -> bool:
    """Return whether another finding is its cause and held about as long.

    A cause of low confidence only explains findings of low confidence.
    """
    return any(
        finding.limit in cause.explains
        and (cause.confidence is not Confidence.LOW or finding.confidence is Confidence.LOW)
        and (cause.held or 0.0) >= MINIMUM_CAUSE_SHARE * (finding.held or 0.0)
        for cause in findings
    )


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


def collect_key_figures(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Evidence]:
    """Collect the recorded key figures of each resource, the target's devices first."""
    for name, figures in context.device_figures(summary).items():
        yield Evidence.read(figures, "%util", name, "%", f"{name} busy {{}} % of the time")
        yield Evidence.read(figures, "aqu-sz", name, "requests", f"{name} with a queue of {{}}")
    if "%user" in summary.machine:
        busy = compute_cpu_utilization(summary)
        yield Evidence("%cpu", "", busy, "%", f"all cores busy {format_number(busy)} % of the time")
    for figure, words in _WORKLOAD.items():
        if figure in summary.workload:
            yield Evidence.read(summary.workload, figure, "", "", words)
    for figure, words in _MACHINE.items():
        if figure in summary.machine:
            yield Evidence.read(summary.machine, figure, "", "%", words)


_WORKLOAD = {
    "%thread": "the workload's busiest thread on a core {} % of the time",
    "waiting": "{} of the workload's threads waiting for storage",
}
_MACHINE = {
    "%throttled": "writers paused {} % of the time",
    "group_memory_some": "tasks of its control group stalled on memory {} % of the time",
    "memory_some": "tasks stalled on memory {} % of the time",
    "io_some": "tasks stalled on I/O {} % of the time",
    "%steal": "{} % of all CPU time stolen",
}


def find_missing_figures(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[str]:
    """Find the figures that were not recorded."""
    yield from (device for device in context.devices if device not in summary.devices)
    for mount in context.nfs_mounts:
        if mount not in summary.nfs:
            yield f"the NFS mount {mount}"
    if context.nfs_mounts and not is_network_speed_known(summary):
        yield "the network's speed"
    if not summary.workload:
        yield "the workload's processes"
    elif "running" not in summary.workload:
        yield "the workload's threads"
    if not summary.machine.keys() & {"group_memory_some", "memory_some"}:
        yield "memory pressure"
