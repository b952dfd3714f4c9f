"""Rule for CPU time that the hypervisor gave to other machines (pure).

Source: proc_stat(5), steal: the time in which virtual CPUs were runnable and did not run.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.confidence import Confidence, lowest_confidence
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.demand import compute_cpu_utilization, compute_demand
from iostudy.diagnosis.evidence import build_evidence
from iostudy.diagnosis.thresholds import ELASTICITY
from iostudy.telemetry.summary import TelemetrySummary


def find_steal(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find the hypervisor if less stolen CPU time would have made the run faster.

    One percent less of the stolen part s gives s / (1 - s) percent more CPU time, which matters to
    the share of the operations that need it.
    """
    stolen, demand = summary.machine.get("%steal", 0.0), compute_demand(summary, context)
    used, cpu_share = compute_cpu_utilization(summary), demand.cpu_share if demand else 1.0
    gain = 100 * stolen / used * cpu_share if used else 0.0
    if confidence := ELASTICITY.grade(gain):
        # Whether the device would then be the limit is unknown.
        confidence = lowest_confidence(confidence, Confidence.MEDIUM)
        evidence = (
            build_evidence(summary.machine, "%steal", "", "%", "it took {} % of all CPU time"),
        )
        yield Finding(Bottleneck.STEAL, "", summary.machine["%steal"], confidence, evidence)
