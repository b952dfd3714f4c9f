"""Rules for a saturated or lossy network and for a slow NFS server (pure).

The round trip to an NFS server includes the network, and a queued request may wait for a session
slot or for space in the socket: neither is certainly the server.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.context import DiagnosisContext, is_foreign_network_traffic
from iostudy.diagnosis.demand import OPERATIONS, count_outstanding, used_kinds
from iostudy.diagnosis.evidence import Confidence, ConfidenceThresholds, Evidence, format_number
from iostudy.telemetry.summary import Figures, TelemetrySummary

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
            evidence = Evidence.read(
                figures, "%ifutil", interface, "%", f"{interface} utilized {{}} %"
            )
            confidence = Confidence.lowest(confidence, _grade_relevance(summary, context))
            yield _build_finding(interface, figures["%ifutil"], confidence, evidence)
    machine = summary.machine
    confidence = LOST.grade(machine.get("%retrans", 0.0))
    if confidence and machine.get("retrans/s", 0.0) >= SEGMENTS:
        evidence = Evidence.read(
            machine, "%retrans", "", "%", "{} % of all TCP segments retransmitted"
        )
        yield _build_finding(
            "", None, Confidence.lowest(confidence, _grade_relevance(summary, context)), evidence
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


OUTSTANDING = ConfidenceThresholds(2, 4, 8)
"""Mean requests at the server or waiting to be sent. A single one indicates a client that waits for
each answer: its concurrency is low, however slow the server is. Each value doubles the last one, a
choice: a client does not know the number of server threads."""


def find_slow_nfs_servers(
    summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Finding]:
    """Find the server of a mount if several requests were outstanding all the time."""
    for mount in context.nfs_mounts:
        if figures := summary.nfs.get(mount):
            waiting = count_outstanding(figures)
            at_server = count_outstanding(figures, "rtt") >= waiting / 2
            is_certain = at_server and is_network_speed_known(summary)
            highest = Confidence.HIGH if is_certain else Confidence.MEDIUM
            if confidence := OUTSTANDING.grade(waiting):
                says = f"{format_number(waiting)} requests outstanding at once"
                at_once = Evidence("ops/s x exe", mount, waiting, "requests", says)
                evidence = (at_once, *_describe_waits(figures, mount))
                yield Finding(
                    Bottleneck.NFS,
                    mount,
                    100.0,
                    Confidence.lowest(confidence, highest),
                    evidence,
                    explains=(Bottleneck.LOG, Bottleneck.CONCURRENCY),
                )


def is_network_speed_known(summary: TelemetrySummary) -> bool:
    """Return whether the busiest interface reports its speed; many virtual ones do not."""
    carried = {
        name: figures.get("rxkB/s", 0.0) + figures.get("txkB/s", 0.0)
        for name, figures in summary.network.items()
        if name != "lo"
    }
    busiest = max(carried, key=carried.__getitem__, default="")
    return "%ifutil" in summary.network.get(busiest, {})


def _describe_waits(figures: Figures, mount: str) -> Iterator[Evidence]:
    for kind in used_kinds(figures):
        queue = format_number(figures[f"{kind}_queue"])
        says = f"{OPERATIONS[kind]} {{}} ms at the server after {queue} ms in the queue"
        yield Evidence.read(figures, f"{kind}_rtt", mount, "ms", says)
    if figures.get("%retrans"):
        yield Evidence.read(figures, "%retrans", mount, "%", "{} % of the requests retransmitted")
