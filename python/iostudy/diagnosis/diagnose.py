"""Diagnosis of a run: all rules applied, and their findings ordered (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis, Finding
from iostudy.diagnosis.confidence import Confidence
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.evidence import Evidence, format_number
from iostudy.diagnosis.idle import can_limit_idle, describe_idleness
from iostudy.diagnosis.key_figures import collect_key_figures, find_missing_figures
from iostudy.diagnosis.rules import (
    concurrency,
    cpu_quota,
    device,
    first_touch,
    foreign,
    memory,
    network,
    nfs_server,
    processor,
    rate_cap,
    serial_resource,
    slow_member,
    steal,
    thermal_throttling,
    writeback,
)
from iostudy.diagnosis.thresholds import (
    MINIMUM_CAUSE_SHARE,
    MINIMUM_HELD,
    MINIMUM_MEASURED,
    MINIMUM_RUN_SECONDS,
    SHORT_RUN_SECONDS,
)
from iostudy.telemetry.summary import TelemetrySummary

Rule = Callable[[TelemetrySummary, DiagnosisContext], Iterator[Finding]]
RULES: tuple[Rule, ...] = (
    rate_cap.find_rate_caps,
    slow_member.find_slow_members,
    device.find_saturated_devices,
    writeback.find_writeback_throttling,
    first_touch.find_first_touch,
    processor.find_busy_processors,
    cpu_quota.find_cpu_quota,
    memory.find_memory_stalls,
    network.find_network_limits,
    nfs_server.find_slow_nfs_servers,
    steal.find_steal,
    thermal_throttling.find_thermal_throttling,
    foreign.find_foreign_processes,
    serial_resource.find_serial_resources,
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
        _limit_confidence(replace(each, of=context.title(each.of)), summary, context)
        for each in candidates
        if each.held is None or each.held >= MINIMUM_HELD
        if not idleness or can_limit_idle(each.limit)
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
    if (part := _measured_part(summary, context)) is not None and part.value < MINIMUM_MEASURED:
        finding = replace(finding, evidence=(*finding.evidence, part))
    elif summary.seconds >= SHORT_RUN_SECONDS:
        return finding
    return replace(finding, confidence=Confidence.LOW)


def _measured_part(summary: TelemetrySummary, context: DiagnosisContext) -> Evidence | None:
    """Return the share of the recording that the workload measured; None for all of it."""
    if context.measured_seconds is None or not summary.seconds:
        return None
    percent = min(100.0, 100 * context.measured_seconds / summary.seconds)
    says = f"{format_number(percent)} % of the recording was measured"
    return Evidence("measured", "", percent, "%", says)


def _order(findings: Sequence[Finding]) -> list[Finding]:
    """Order causes, then consequences, then findings of low confidence; the longest first.

    Low concurrency as a consequence is left out: more requests at once would only wait longer. So
    is a busy CPU as a consequence of first touches: its time is theirs.
    """
    causes = [each for each in findings if not _is_explained(each, findings)]
    consequences = [each for each in findings if each not in causes]
    left_out = {Bottleneck.CONCURRENCY}
    if any(each.limit is Bottleneck.FIRST_TOUCH for each in causes):
        left_out |= {Bottleneck.CPU, Bottleneck.CORE}
    kept = causes + [each for each in consequences if each.limit not in left_out]

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
