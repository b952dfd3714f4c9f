"""Block requests from the text of a trace instance (Documentation/trace/events.rst)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from iostudy.job import RecordedRequest

INSERT, ALLOCATE = "block_rq_insert", "block_getrq"
ISSUE, COMPLETE = "block_rq_issue", "block_rq_complete"
EVENTS = (INSERT, ALLOCATE, ISSUE, COMPLETE)
_LINE = re.compile(
    r"-(?P<task>\d+)\s+\[(?P<cpu>\d+)\]\s+\S+\s+(?P<time>[\d.]+): (?P<name>block_\w+): \d+,\d+ "
    r"(?P<kind>\w+) (?:\d+ )?(?:\(\w*\) )?(?P<start>\d+) \+ (?P<sectors>\d+)"
)


@dataclass(frozen=True)
class Event:
    """An event of a request with data; times in seconds."""

    name: str
    time: float
    task: int
    cpu: int
    kind: str
    start: int
    sectors: int


@dataclass(frozen=True)
class IssuedRequest:
    """A request with its time of issue in seconds."""

    recorded: RecordedRequest
    issued: float


def parse(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events of requests with data."""
    for line in lines:
        found = _LINE.search(line)
        if found and int(found["sectors"]):
            yield Event(
                name=found["name"],
                time=float(found["time"]),
                task=int(found["task"]),
                cpu=int(found["cpu"]),
                kind=found["kind"],
                start=int(found["start"]),
                sectors=int(found["sectors"]),
            )


def match(events: Iterable[Event], arrival: str) -> list[IssuedRequest]:
    """Return the requests with a recorded issue and completion, by arrival.

    ``arrival`` is the event with which a request reaches its scheduler. A request without it has
    grown by a merge, and arrives when it is issued.
    """
    arrived: dict[int, Event] = {}
    issued: dict[int, tuple[Event, Event]] = {}
    processes: dict[int, int] = {}
    done = []
    for event in events:
        if event.name == arrival:
            arrived[event.start] = event
        elif event.name == ISSUE:
            issued[event.start] = arrived.pop(event.start, event), event
        elif event.name == COMPLETE and (pair := issued.pop(event.start, None)):
            process = processes.setdefault(pair[0].task, len(processes))
            done.append(IssuedRequest(_record(pair[0], event, process), pair[1].time))
    return sorted(done, key=lambda each: each.recorded.inserted)


def _record(arrived: Event, completed: Event, process: int) -> RecordedRequest:
    is_read = "R" in arrived.kind
    return RecordedRequest(
        inserted=arrived.time,
        completed=completed.time,
        process=process,
        cpu=arrived.cpu,
        start=completed.start,
        sectors=completed.sectors,
        is_read=is_read,
        is_sync=is_read or "S" in arrived.kind,
    )
