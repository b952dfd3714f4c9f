"""The NFS server, by how long it took to answer (pure).

Source: nfsiostat(8): a request waits in the client's queue, then for the server (rtt); exe is both.
By Little's law the rate times the time is how many were there at once. The round trip is the
network's as well, and what waits in the queue may do so for a slot of the session or for room in
the socket: neither is the server for certain.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Confidence, Evidence, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.thresholds import ConfidenceThresholds, at_most, number, told
from iostudy.telemetry.summary import Figures, TelemetrySummary

OUTSTANDING = ConfidenceThresholds(2, 4, 8)
"""Requests that the server had at once or that waited to be sent. One alone is a client that waits
for each answer: it lacks concurrency, however slow the server is. Each step has twice as many, a
choice, as a server's threads are not told to its clients."""


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """The server of a mount, if several requests waited for it all the time."""
    for mount in ground.nfs_mounts:
        if figures := seen.nfs.get(mount):
            yield from _slow(mount, figures, _at_most(figures, seen))


def network_speed_is_known(seen: TelemetrySummary) -> bool:
    """Whether a full network would have been noticed: many virtual ones do not tell their speed."""
    carried = {
        name: figures.get("rxkB/s", 0.0) + figures.get("txkB/s", 0.0)
        for name, figures in seen.network.items()
        if name != "lo"
    }
    busiest = max(carried, key=carried.__getitem__, default="")
    return "%ifutil" in seen.network.get(busiest, {})


def _at_most(figures: Figures, seen: TelemetrySummary) -> Confidence:
    at_server = outstanding(figures, "rtt") >= outstanding(figures) / 2
    sure = at_server and network_speed_is_known(seen)
    return Confidence.HIGH if sure else Confidence.MEDIUM


def _slow(mount: str, figures: Figures, most: Confidence) -> Iterator[Finding]:
    waiting = outstanding(figures)
    if confidence := OUTSTANDING.grade(waiting):
        says = f"{number(waiting)} requests waited for it at once"
        at_once = Evidence("ops/s x exe", mount, waiting, "requests", says)
        evidence = (at_once, *_waits(figures, mount))
        yield Finding(
            Bottleneck.NFS,
            mount,
            100.0,
            at_most(confidence, most),
            evidence,
            explains=(Bottleneck.LOG, Bottleneck.CONCURRENCY),
        )


def outstanding(figures: Figures, time: str = "exe") -> float:
    """How many operations were under way at once on average, or in the part ``rtt`` of the time."""
    at_once = (figures[f"{kind}/s"] * figures[f"{kind}_{time}"] for kind in _known(figures))
    return sum(at_once) / 1000


_KINDS = {"r": "a read", "w": "a write", "c": "a commit", "o": "another operation"}
"""A server may answer writes before they are on its disk; a commit waits until they are
(RFC 1813, 3.3.21). The others are about names and attributes: small files ask for little else."""


def _known(figures: Figures) -> Iterator[str]:
    """The kinds of requests that there were."""
    return (kind for kind in _KINDS if figures.get(f"{kind}/s"))


def _waits(figures: Figures, mount: str) -> Iterator[Evidence]:
    for kind in _known(figures):
        queue = number(figures[f"{kind}_queue"])
        says = f"{_KINDS[kind]} {{}} ms at the server, {queue} ms in the queue before"
        yield told(figures, f"{kind}_rtt", mount, "ms", says)
    if figures.get("%retrans"):
        yield told(figures, "%retrans", mount, "%", "{} % of the requests sent again")
