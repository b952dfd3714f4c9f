"""Block requests of a trace, as a scheduler got them."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy_trace.events import SECTOR_BYTES
from iostudy_trace.matching import Arrival, MatchedTrace, Request
from iostudy_trace.operation import Operation, is_sync

_SECONDS = 1e-9
_WITH_DATA = (Operation.READ, Operation.WRITE)


@dataclass(frozen=True)
class RecordedRequest:
    """A request for `SimulatedDisk.replay`; times in seconds, positions in blocks of 512 bytes."""

    inserted: float
    completed: float
    process: int
    cpu: int
    start: int
    sectors: int
    is_read: bool
    is_sync: bool


@dataclass(frozen=True)
class IssuedRequest:
    """A request with its time of issue in seconds."""

    recorded: RecordedRequest
    issued: float


def list_issued(trace: MatchedTrace, scheduler: str) -> list[IssuedRequest]:
    """Return the requests with data, by arrival."""
    requests = [request for request in trace.requests if request.operation in _WITH_DATA]
    arrivals = [_arrival(request, scheduler) for request in requests]
    processes: dict[int, int] = {}
    issued = []
    for request, arrival in zip(requests, arrivals, strict=True):
        process = processes.setdefault(arrival.pid, len(processes))
        recorded = _record(request, arrival, process)
        issued.append(IssuedRequest(recorded, request.issued_ns * _SECONDS))
    return sorted(issued, key=lambda request: request.recorded.inserted)


def _arrival(request: Request, scheduler: str) -> Arrival:
    """Return when the scheduler got a request.

    ``none`` gets it when it is allocated, the others when it is inserted. A request without that
    event has grown by a merge, and arrives when it is issued.
    """
    arrived = request.allocated if scheduler == "none" else request.inserted
    return arrived or request.issuer


def _record(request: Request, arrival: Arrival, process: int) -> RecordedRequest:
    return RecordedRequest(
        inserted=arrival.time_ns * _SECONDS,
        completed=request.completed_ns * _SECONDS,
        process=process,
        cpu=arrival.cpu,
        start=request.sector,
        sectors=request.bytes // SECTOR_BYTES,
        is_read=request.operation is Operation.READ,
        is_sync=is_sync(request.flags),
    )
