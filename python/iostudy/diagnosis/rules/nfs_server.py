"""Rule for a slow NFS server, from its outstanding requests (pure).

The round trip includes the network, and a queued request may wait for a session slot or for space
in the socket: neither is certainly the server.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.confidence import Confidence, ConfidenceThresholds, lowest_confidence
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.evidence import Evidence, build_evidence, format_number
from iostudy.diagnosis.nfs_requests import OPERATIONS, count_outstanding, used_kinds
from iostudy.telemetry.summary import Figures, TelemetrySummary

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
            yield from _find_backlog(mount, figures, _highest_confidence(figures, summary))


def is_network_speed_known(summary: TelemetrySummary) -> bool:
    """Return whether the busiest interface reports its speed; many virtual ones do not."""
    carried = {
        name: figures.get("rxkB/s", 0.0) + figures.get("txkB/s", 0.0)
        for name, figures in summary.network.items()
        if name != "lo"
    }
    busiest = max(carried, key=carried.__getitem__, default="")
    return "%ifutil" in summary.network.get(busiest, {})


def _highest_confidence(figures: Figures, summary: TelemetrySummary) -> Confidence:
    at_server = count_outstanding(figures, "rtt") >= count_outstanding(figures) / 2
    is_certain = at_server and is_network_speed_known(summary)
    return Confidence.HIGH if is_certain else Confidence.MEDIUM


def _find_backlog(mount: str, figures: Figures, highest: Confidence) -> Iterator[Finding]:
    waiting = count_outstanding(figures)
    if confidence := OUTSTANDING.grade(waiting):
        says = f"{format_number(waiting)} requests outstanding at once"
        at_once = Evidence("ops/s x exe", mount, waiting, "requests", says)
        evidence = (at_once, *_describe_waits(figures, mount))
        yield Finding(
            Bottleneck.NFS,
            mount,
            100.0,
            lowest_confidence(confidence, highest),
            evidence,
            explains=(Bottleneck.LOG, Bottleneck.CONCURRENCY),
        )


def _describe_waits(figures: Figures, mount: str) -> Iterator[Evidence]:
    for kind in used_kinds(figures):
        queue = format_number(figures[f"{kind}_queue"])
        says = f"{OPERATIONS[kind]} {{}} ms at the server after {queue} ms in the queue"
        yield build_evidence(figures, f"{kind}_rtt", mount, "ms", says)
    if figures.get("%retrans"):
        yield build_evidence(figures, "%retrans", mount, "%", "{} % of the requests retransmitted")
