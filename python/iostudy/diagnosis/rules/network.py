"""Rule for the network: a saturated interface, or lost segments (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.attribution import is_foreign_network_traffic
from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.confidence import Confidence, ConfidenceThresholds, lowest_confidence
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.evidence import Evidence, build_evidence
from iostudy.telemetry.summary import TelemetrySummary

FULL = ConfidenceThresholds(70, 80, 90)
"""%ifutil. TCP payload is at most 94 % of a saturated Ethernet; headers take the rest."""
LOST = ConfidenceThresholds(0.5, 1, 2)
"""Percent of the TCP segments that were retransmitted. TCP's throughput is proportional to the
square root of 1 / loss (Mathis et al. 1997): at 1 % a connection has hardly 12 in flight."""
SEGMENTS = 10.0
"""Retransmitted segments a second below which no rate is reliable: the standard error of their
count in a second is a third (the root of the count)."""


def find_network_limits(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find each saturated interface, and retransmissions."""
    for interface, figures in summary.network.items():
        if confidence := FULL.grade(figures.get("%ifutil", 0.0)):
            evidence = build_evidence(
                figures, "%ifutil", interface, "%", f"{interface} utilized {{}} %"
            )
            confidence = lowest_confidence(confidence, _grade_relevance(summary, context))
            yield _build_finding(interface, figures["%ifutil"], confidence, evidence)
    machine = summary.machine
    confidence = LOST.grade(machine.get("%retrans", 0.0))
    if confidence and machine.get("retrans/s", 0.0) >= SEGMENTS:
        evidence = build_evidence(
            machine, "%retrans", "", "%", "{} % of all TCP segments retransmitted"
        )
        yield _build_finding(
            "", None, lowest_confidence(confidence, _grade_relevance(summary, context)), evidence
        )


def _grade_relevance(summary: TelemetrySummary, context: DiagnosisContext) -> Confidence:
    """Return the highest confidence that the traffic matters to the workload.

    It is low for a workload on local devices alone, or if others moved most data over NFS.
    """
    is_local = bool(context.devices) and not context.nfs_mounts
    return Confidence.LOW if is_local or is_foreign_network_traffic(summary) else Confidence.HIGH


def _build_finding(
    interface: str, held: float | None, confidence: Confidence, evidence: Evidence
) -> Finding:
    return Finding(
        Bottleneck.NETWORK,
        interface,
        held,
        confidence,
        (evidence,),
        explains=(Bottleneck.NFS, Bottleneck.CONCURRENCY),
    )
