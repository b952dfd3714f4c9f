"""The network as the limit: an interface that was full, or segments that were lost (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.attribution import is_network_of_others
from iostudy.diagnosis.bottleneck import Bottleneck, Confidence, Evidence, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.thresholds import ConfidenceThresholds, at_most, told
from iostudy.telemetry.summary import TelemetrySummary

FULL = ConfidenceThresholds(70, 80, 90)
"""%ifutil. Of a full Ethernet, TCP has 94 % for what it carries; other headers take theirs."""
LOST = ConfidenceThresholds(0.5, 1, 2)
"""Percent of the TCP segments that were sent again. TCP's throughput goes with the square root of
1 / loss (Mathis et al. 1997): at 1 % one connection hardly has 12 segments under way."""
SEGMENTS = 10.0
"""Segments sent again in a second, fewer of which are no rate: their number in a second
is only known to a third (the root of a count is its standard error)."""


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """Each full interface, and losses, where the network may matter."""
    for interface, figures in seen.network.items():
        if confidence := FULL.grade(figures.get("%ifutil", 0.0)):
            evidence = told(figures, "%ifutil", interface, "%", f"{interface} full to {{}} %")
            confidence = at_most(confidence, _matters(seen, ground))
            yield _finding(interface, figures["%ifutil"], confidence, evidence)
    machine = seen.machine
    confidence = LOST.grade(machine.get("%retrans", 0.0))
    if confidence and machine.get("retrans/s", 0.0) >= SEGMENTS:
        evidence = told(machine, "%retrans", "", "%", "{} % of all TCP segments sent again")
        yield _finding("", None, at_most(confidence, _matters(seen, ground)), evidence)


def _matters(seen: TelemetrySummary, ground: DiagnosisContext) -> Confidence:
    """Whose traffic it was is not known; a workload on local devices alone need not care.

    Nor need one care for what others moved over NFS.
    """
    is_local = bool(ground.devices) and not ground.nfs_mounts
    return Confidence.LOW if is_local or is_network_of_others(seen) else Confidence.HIGH


def _finding(
    interface: str, held: float | None, confidence: Confidence, evidence: Evidence
) -> Finding:
    return Finding(
        Bottleneck.NETWORK, interface, held, confidence, (evidence,), explains=(Bottleneck.NFS,)
    )
