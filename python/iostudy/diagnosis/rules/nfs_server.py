"""Rule for a slow NFS server, from its outstanding requests (pure).

Source: nfsiostat(8): a request waits in the client's queue, then for the server (rtt); exe is both.
By Little's law the rate times the time is the number of outstanding requests. The round trip
includes the network, and a queued request may wait for a session slot or for space in the socket:
neither is certainly the server.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.confidence import Confidence, ConfidenceThresholds, lowest_confidence
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.evidence import Evidence, build_evidence, format_number
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


def count_outstanding(figures: Figures, time: str = "exe") -> float:
    """Return the mean number of outstanding operations, or with ``rtt`` of those at the server."""
    at_once = (figures[f"{kind}/s"] * figures[f"{kind}_{time}"] for kind in _used_kinds(figures))
    return sum(at_once) / 1000


_KINDS = {"r": "a read", "w": "a write", "c": "a commit", "o": "another operation"}
"""A server may answer writes before they are on its disk; a commit waits until they are
(RFC 1813, 3.3.21). Other operations concern names and attributes, as for small files."""


def _used_kinds(figures: Figures) -> Iterator[str]:
    """Return the kinds of operations that occurred."""
    return (kind for kind in _KINDS if figures.get(f"{kind}/s"))


def _describe_waits(figures: Figures, mount: str) -> Iterator[Evidence]:
    for kind in _used_kinds(figures):
        queue = format_number(figures[f"{kind}_queue"])
        says = f"{_KINDS[kind]} {{}} ms at the server after {queue} ms in the queue"
        yield build_evidence(figures, f"{kind}_rtt", mount, "ms", says)
    if figures.get("%retrans"):
        yield build_evidence(figures, "%retrans", mount, "%", "{} % of the requests retransmitted")
