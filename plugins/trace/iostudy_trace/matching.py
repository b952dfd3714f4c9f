"""Bios and requests of a trace, from its events (pure)."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from iostudy_trace import events
from iostudy_trace.events import SECTOR_BYTES, BlockEvent
from iostudy_trace.operation import Operation, parse_operation

Key = tuple[str, Operation, int]
"""Device, operation and first sector."""


@dataclass(frozen=True)
class Bio:
    """What a thread submitted to the block layer; ``completed_ns`` is None if that is unknown."""

    device: str
    operation: Operation
    flags: str
    sector: int
    bytes: int
    pid: int
    command: str
    cpu: int
    queued_ns: int
    completed_ns: int | None


@dataclass(frozen=True)
class Arrival:
    """Time at which a request was allocated or inserted, with the thread that did it."""

    time_ns: int
    pid: int
    cpu: int


@dataclass(frozen=True)
class Request:
    """A request that the driver completed, from its last issue; None for what was not recorded."""

    device: str
    operation: Operation
    flags: str
    sector: int
    bytes: int
    issuer: Arrival
    allocated: Arrival | None
    inserted: Arrival | None
    completed_ns: int

    @property
    def issued_ns(self) -> int:
        """Time of the issue to the driver."""
        return self.issuer.time_ns


@dataclass(frozen=True)
class MatchedTrace:
    """Bios in the order of their queueing, requests in that of their completion.

    ``unfinished`` requests were issued and did not complete in the trace.
    """

    bios: tuple[Bio, ...]
    requests: tuple[Request, ...]
    counts: Mapping[str, int]
    lost: int
    unfinished: int
    start_ns: int
    end_ns: int


@dataclass
class _OpenBio:
    """A bio under way, with the number of its parts that have not completed."""

    bio: Bio
    parts: int = 1


@dataclass
class _OpenRequest:
    """An issued request, and its bytes that have not completed."""

    request: Request
    bytes_left: int


@dataclass
class _Matcher:
    """Events in time order become bios and requests."""

    bios: list[_OpenBio] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    _parts: dict[Key, deque[tuple[int, _OpenBio]]] = field(
        default_factory=lambda: defaultdict(deque)
    )
    """End sector and bio of the parts that begin there."""
    _flushes: list[_OpenBio] = field(default_factory=list)
    _allocated: dict[Key, Arrival] = field(default_factory=dict)
    _inserted: dict[Key, Arrival] = field(default_factory=dict)
    _issued: dict[Key, deque[_OpenRequest]] = field(default_factory=lambda: defaultdict(deque))

    def add(self, event: BlockEvent) -> None:
        self.counts[event.event] += 1
        if event.event == events.LOST:
            self.lost += event.lost
            self._forget()
        act = _ACTIONS.get(event.event)
        key = _key(event)
        if act is not None and key is not None:
            act(self, event, key)

    @property
    def unfinished(self) -> int:
        return sum(map(len, self._issued.values()))

    def queue(self, event: BlockEvent, key: Key) -> None:
        device, operation, sector = key
        size = event.bytes or 0
        bio = _OpenBio(
            Bio(
                device,
                operation,
                event.operation,
                sector,
                size,
                event.pid,
                event.command,
                event.cpu,
                event.time_ns,
                None,
            )
        )
        self.bios.append(bio)
        if operation is Operation.FLUSH:
            self._flushes.append(bio)
        else:
            self._parts[key].append((sector + size // SECTOR_BYTES, bio))

    def split(self, event: BlockEvent, key: Key) -> None:
        if not self._parts[key]:
            return
        end, bio = self._parts[key].pop()
        middle = key[2] + (event.bytes or 0) // SECTOR_BYTES
        bio.parts += 1
        self._parts[key].append((middle, bio))
        self._parts[*key[:2], middle].append((end, bio))

    def allocate(self, event: BlockEvent, key: Key) -> None:
        self._allocated[key] = _arrival(event)

    def insert(self, event: BlockEvent, key: Key) -> None:
        self._inserted[key] = _arrival(event)

    def issue(self, event: BlockEvent, key: Key) -> None:
        request = Request(
            device=key[0],
            operation=key[1],
            flags=event.operation,
            sector=key[2],
            bytes=event.bytes or 0,
            issuer=_arrival(event),
            allocated=self._allocated.pop(key, None),
            inserted=self._inserted.pop(key, None),
            completed_ns=0,
        )
        self._issued[key].append(_OpenRequest(request, request.bytes))

    def requeue(self, event: BlockEvent, key: Key) -> None:
        if self._issued[key]:
            returned = self._issued[key].popleft().request
            self._allocated[key] = returned.allocated or returned.issuer
            self._inserted[key] = returned.inserted or returned.issuer

    def complete(self, event: BlockEvent, key: Key) -> None:
        """Complete a request, or the part of it that the driver completed first."""
        if key[1] is Operation.FLUSH:
            self._complete_flushes(event, key)
        else:
            self._complete_bios(event, key)
        if not self._issued[key]:
            return
        request = self._issued[key].popleft()
        request.bytes_left -= event.bytes or 0
        if request.bytes_left > 0:
            rest = key[2] + (event.bytes or 0) // SECTOR_BYTES
            self._issued[*key[:2], rest].append(request)
        else:
            self.requests.append(replace(request.request, completed_ns=event.time_ns))

    def _complete_bios(self, event: BlockEvent, key: Key) -> None:
        device, operation, sector = key
        end = sector + (event.bytes or 0) // SECTOR_BYTES
        while sector < end and (waiting := self._parts.get((device, operation, sector))):
            part_end, bio = waiting.popleft()
            if not waiting:
                del self._parts[device, operation, sector]
            if part_end > end:
                self._parts[device, operation, end].append((part_end, bio))
            else:
                self._complete_part(bio, event.time_ns)
            sector = part_end

    def _complete_part(self, pending: _OpenBio, time_ns: int) -> None:
        pending.parts -= 1
        if not pending.parts:
            pending.bio = replace(pending.bio, completed_ns=time_ns)

    def _complete_flushes(self, event: BlockEvent, key: Key) -> None:
        """One flush of the drive completes all flushes that were queued before its issue."""
        issued = self._issued[key][0].request.issued_ns if self._issued[key] else event.time_ns
        for flush in self._flushes:
            if flush.bio.device == key[0] and flush.bio.queued_ns <= issued:
                self._complete_part(flush, event.time_ns)
        self._flushes = [flush for flush in self._flushes if flush.parts]

    def _forget(self) -> None:
        """Drop what was under way when events were lost."""
        for open_ in (self._parts, self._allocated, self._inserted, self._issued):
            open_.clear()
        self._flushes.clear()


_ACTIONS: Mapping[str, Callable[[_Matcher, BlockEvent, Key], None]] = {
    events.BIO_QUEUE: _Matcher.queue,
    events.BIO_SPLIT: _Matcher.split,
    events.ALLOCATE: _Matcher.allocate,
    events.INSERT: _Matcher.insert,
    events.ISSUE: _Matcher.issue,
    events.REQUEUE: _Matcher.requeue,
    events.COMPLETE: _Matcher.complete,
}


def match(trace: Iterable[BlockEvent]) -> MatchedTrace:
    """Return the bios and requests of events in time order.

    Concurrent bios and requests at the same place complete in the order of their start.
    """
    matcher = _Matcher()
    start = end = None
    for event in trace:
        start = event.time_ns if start is None else start
        end = event.time_ns
        matcher.add(event)
    return MatchedTrace(
        bios=tuple(bio.bio for bio in matcher.bios),
        requests=tuple(matcher.requests),
        counts=dict(matcher.counts),
        lost=matcher.lost,
        unfinished=matcher.unfinished,
        start_ns=start or 0,
        end_ns=end or 0,
    )


def _key(event: BlockEvent) -> Key | None:
    """Return the place of an event; None for a command and an event without a device."""
    operation = parse_operation(event.operation, event.bytes or 0)
    if event.device is None or operation is None:
        return None
    # A flush has no position: issue and completion have different sectors.
    sector = 0 if operation is Operation.FLUSH else event.sector or 0
    return event.device, operation, sector


def _arrival(event: BlockEvent) -> Arrival:
    return Arrival(event.time_ns, event.pid, event.cpu)
