"""Rule for CPU time that the hypervisor gave to other machines (pure).

Source: proc_stat(5), steal: the time in which virtual CPUs were runnable and did not run.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.confidence import ConfidenceThresholds
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.evidence import build_evidence
from iostudy.telemetry.summary import TelemetrySummary

STOLEN = ConfidenceThresholds(5, 10, 20)
"""Percent of all CPU time. Each wait lengthens a run, even if CPUs are idle in between. The first
value is a common limit of steal (docs/method.md); each further one doubles it."""


def find_steal(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find the hypervisor if it took a part of the CPU time."""
    del context
    if confidence := STOLEN.grade(summary.machine.get("%steal", 0.0)):
        evidence = (
            build_evidence(summary.machine, "%steal", "", "%", "it took {} % of all CPU time"),
        )
        yield Finding(Bottleneck.STEAL, "", summary.machine["%steal"], confidence, evidence)
