"""Summary of a trace: requests, sizes, queue depth, order, latencies and processes (pure)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iostudy_trace import events
from iostudy_trace.events import SECTOR_BYTES
from iostudy_trace.matching import Bio, MatchedTrace, Request

PERCENTILES = {"p50": 50.0, "p99": 99.0, "max": 100.0}
_SECONDS, _MICROSECONDS = 1e-9, 1e-3
_MOST_PROCESSES = 10


@dataclass(frozen=True)
class RequestSummary:
    """Requests of an operation on a device.

    ``sequential`` is the share that begins where the device's previous request ended. The depth
    counts requests from their issue. Latencies are from issue to completion, waits from the
    queueing of the request to its issue, in microseconds at `PERCENTILES`; no waits are known
    without the event of an allocation.
    """

    device: str
    operation: str
    requests: int
    bytes: int
    sizes: tuple[float, ...]
    sequential: float
    mean_depth: float
    latencies_us: tuple[float, ...]
    waits_us: tuple[float, ...]


@dataclass(frozen=True)
class ProcessSummary:
    """Bios of a thread on a device."""

    command: str
    pid: int
    device: str
    operation: str
    bios: int
    bytes: int
    sequential: float


@dataclass(frozen=True)
class TraceSummary:
    """Summary of a trace; ``merges`` are bios that joined a request, and requests that merged."""

    seconds: float
    events: int
    lost: int
    unfinished: int
    merges: int
    requests: tuple[RequestSummary, ...]
    processes: tuple[ProcessSummary, ...]


def summarize(trace: MatchedTrace) -> TraceSummary:
    """Summarize requests by device and operation, and bios by the busiest threads."""
    seconds = (trace.end_ns - trace.start_ns) * _SECONDS
    merging = (events.BIO_BACK_MERGE, events.BIO_FRONT_MERGE, events.MERGE)
    in_order = sorted(trace.requests, key=lambda request: request.issued_ns)
    followers = _find_followers(in_order)
    groups: dict[tuple[str, str], list[Request]] = defaultdict(list)
    for request in in_order:
        groups[request.device, request.operation].append(request)
    return TraceSummary(
        seconds=seconds,
        events=sum(count for name, count in trace.counts.items() if name != events.LOST),
        lost=trace.lost,
        unfinished=trace.unfinished,
        merges=sum(trace.counts.get(name, 0) for name in merging),
        requests=tuple(
            _summarize_requests(group, followers, seconds) for _, group in sorted(groups.items())
        ),
        processes=_summarize_processes(trace.bios),
    )


def _find_followers(requests: Iterable[Request | Bio]) -> frozenset[int]:
    """The identities of those that begin where the previous one of their device ended."""
    ends: dict[str, int] = {}
    keys = set()
    for request in requests:
        if not request.bytes:
            continue
        if ends.get(request.device) == request.sector:
            keys.add(id(request))
        ends[request.device] = request.sector + request.bytes // SECTOR_BYTES
    return frozenset(keys)


def _summarize_requests(
    group: Sequence[Request], followers: frozenset[int], seconds: float
) -> RequestSummary:
    latencies = [request.completed_ns - request.issued_ns for request in group]
    waits = [
        request.issued_ns - request.allocated.time_ns for request in group if request.allocated
    ]
    return RequestSummary(
        device=group[0].device,
        operation=group[0].operation,
        requests=len(group),
        bytes=sum(request.bytes for request in group),
        sizes=_percentiles([request.bytes for request in group], 1),
        sequential=sum(id(request) in followers for request in group) / len(group),
        mean_depth=sum(latencies) * _SECONDS / seconds if seconds else 0.0,
        latencies_us=_percentiles(latencies, _MICROSECONDS),
        waits_us=_percentiles(waits, _MICROSECONDS),
    )


def _summarize_processes(bios: Sequence[Bio]) -> tuple[ProcessSummary, ...]:
    groups: Mapping[tuple[str, int, str, str], list[Bio]] = defaultdict(list)
    for bio in bios:
        groups[bio.command, bio.pid, bio.device, bio.operation].append(bio)
    summaries = [
        ProcessSummary(
            *key,
            bios=len(group),
            bytes=sum(bio.bytes for bio in group),
            sequential=len(_find_followers(group)) / len(group),
        )
        for key, group in groups.items()
    ]
    busiest = sorted(
        summaries, key=lambda process: (-process.bytes, -process.bios, process.command, process.pid)
    )
    return tuple(busiest[:_MOST_PROCESSES])


def _percentiles(values: Sequence[int], factor: float) -> tuple[float, ...]:
    """Values at `PERCENTILES`, none of nothing; each is one of the values."""
    if not values:
        return ()
    picked = np.percentile(values, list(PERCENTILES.values()), method="inverted_cdf")
    return tuple(float(value) * factor for value in picked)
