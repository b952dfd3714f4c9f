"""What limited a run, of all that can (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from iostudy.diagnosis.bottleneck import Bottleneck, Confidence, Diagnosis, Evidence, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.key_figures import looked_at, missing
from iostudy.diagnosis.rules import (
    concurrency,
    cpu_quota,
    device,
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
from iostudy.diagnosis.thresholds import number
from iostudy.telemetry.summary import TelemetrySummary

Rule = Callable[[TelemetrySummary, DiagnosisContext], Iterator[Finding]]
RULES: tuple[Rule, ...] = (
    rate_cap.find,
    slow_member.find,
    device.find,
    writeback.find,
    processor.find,
    cpu_quota.find,
    memory.find,
    network.find,
    nfs_server.find,
    steal.find,
    thermal_throttling.find,
    foreign.find,
    serial_resource.find,
    concurrency.find,
)

LITTLE = 5.0
"""Percent of the time. By Amdahl's law a run gains hardly more from what held it up for less."""
AS_LONG = 0.5
"""Of the time of its consequence: what held up for less was there too, and is not its cause."""

BRIEF = 0.5
"""Seconds below which nothing is sure: CPU time comes in ticks of 10 ms, scans of processes once a
second, and the start and the end are as long as what lies between."""


MEASURED = 50.0
"""Percent of the recording that the workload measured. Where it was less, most of what was seen is
of something else, as the start of a Java, and what that is limited by need not limit the run."""


def diagnose(seen: TelemetrySummary, ground: DiagnosisContext) -> Diagnosis:
    """What held the run up, in order of how long, or that it is unclear."""
    found = (finding for rule in RULES for finding in rule(seen, ground))
    findings = [
        _as_sure_as_the_recording(each, seen, ground)
        for each in found
        if each.held is None or each.held >= LITTLE
    ]
    return Diagnosis(
        findings=tuple(_in_order(findings)),
        looked_at=tuple(looked_at(seen, ground)),
        missing=tuple(missing(seen, ground)),
        busy=device.busy_time(seen, ground),
    )


def _as_sure_as_the_recording(
    finding: Finding, seen: TelemetrySummary, ground: DiagnosisContext
) -> Finding:
    """Not sure of what was hardly seen, or seen with much else."""
    if (part := _measured_part(seen, ground)) is not None and part.value < MEASURED:
        finding = replace(finding, evidence=(*finding.evidence, part))
    elif seen.seconds >= BRIEF:
        return finding
    return replace(finding, confidence=Confidence.LOW)


def _measured_part(seen: TelemetrySummary, ground: DiagnosisContext) -> Evidence | None:
    """How much of the recording the workload measured; None where that is all of it."""
    if ground.measured_seconds is None or not seen.seconds:
        return None
    percent = min(100.0, 100 * ground.measured_seconds / seen.seconds)
    says = f"{number(percent)} % of the recording was measured"
    return Evidence("measured", "", percent, "%", says)


def _in_order(findings: Sequence[Finding]) -> list[Finding]:
    """Causes, then what they explain, then what is not sure; in each what held up longest first.

    A lack of concurrency that is explained is none: more at once would only wait longer.
    """
    own = [each for each in findings if not _explained(each, findings)]
    consequences = [each for each in findings if each not in own]
    told = own + [each for each in consequences if each.limit is not Bottleneck.CONCURRENCY]

    def rank(finding: Finding) -> tuple[bool, bool, float]:
        unsure = finding.confidence is Confidence.LOW
        return unsure, finding in consequences, -(finding.held or 0.0)

    return sorted(told, key=rank)


def _explained(finding: Finding, findings: Iterable[Finding]) -> bool:
    """Whether another one is its cause, and held up about as long.

    What is not sure itself explains nothing that is.
    """
    return any(
        finding.limit in cause.explains
        and (cause.confidence is not Confidence.LOW or finding.confidence is Confidence.LOW)
        and (cause.held or 0.0) >= AS_LONG * (finding.held or 0.0)
        for cause in findings
    )
