"""Rule for the CPU quota of a control group (pure).

Source: the kernel's Documentation/scheduler/sched-bwc.rst: a group that has used its quota is
throttled until the next period, even if CPUs are idle.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.confidence import ConfidenceThresholds
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.evidence import build_evidence
from iostudy.telemetry.summary import TelemetrySummary

THROTTLED = ConfidenceThresholds(5, 10, 25)
"""Percent of the time. A group that never reaches its quota is never throttled. The lowest value is
`thresholds.MINIMUM_HELD`; the others are a choice."""


def find_cpu_quota(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find the quota if it throttled the workload's group."""
    del context
    if confidence := THROTTLED.grade(summary.machine.get("%quota", 0.0)):
        words = "the workload throttled {} % of the time"
        evidence = (build_evidence(summary.machine, "%quota", "", "%", words),)
        yield Finding(Bottleneck.QUOTA, "", summary.machine["%quota"], confidence, evidence)
