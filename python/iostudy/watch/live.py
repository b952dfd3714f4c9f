"""What the machine did in each interval, as long as somebody looks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from iostudy.telemetry.summary import ForeignProcess, TelemetrySummary
from iostudy.watch.chosen import Named, chosen, named
from iostudy.watch.reader import Reader, is_scanned

if TYPE_CHECKING:
    from iostudy.telemetry.samples import Samples, Values

_NANOSECONDS = 1e9


@dataclass(frozen=True)
class Host:
    """The machine, as uname(2) names it, and how many processors are online."""

    name: str
    system: str
    release: str
    machine: str
    cpus: int


@dataclass(frozen=True)
class Busiest:
    """The process that did most, of those that are not the workload's, over so many ``seconds``."""

    process: ForeignProcess
    seconds: float


@dataclass(frozen=True)
class Reading:
    """What was seen in the interval that ended ``at``; ``devices`` has a name for each of Seen's.

    Devices are in the order in which they were asked for, else in the kernel's. ``busiest`` is of
    the last time between two scans of the processes, which are longer than most intervals.
    """

    at: datetime
    host: Host
    seen: TelemetrySummary
    devices: Mapping[str, Named]
    busiest: Busiest | None = None

    def members_of(self, name: str) -> tuple[str, ...]:
        """What is watched of what a volume lies on: where a partition is not, its disk is."""
        device = self.devices[name]
        pairs = zip(device.members, device.disks, strict=True)
        watched = (part if part in self.devices else disk for part, disk in pairs)
        return tuple(dict.fromkeys(each for each in watched if each in self.devices))


class Watch:
    """Which devices are told of, and how they are called.

    ``places`` are as `chosen` takes them. Without any, all disks and volumes are watched that have
    done any I/O since they are there, as iostat does; partitions are not. Devices may come and go.
    """

    def __init__(self, places: Sequence[str] = ()) -> None:
        self.asked_for = chosen(places) if places else None
        """The kernel's names of them; None for all."""
        self._host = read_host()
        self._known: dict[str, tuple[float, Named]] = {}

    def reading(self, samples: Samples) -> Reading:
        """What was seen between the first of them and the last."""
        from iostudy.telemetry.figures import tell  # not at the top: numpy is slow to load

        watched = self.watched(samples)
        seen = tell(samples, watched)
        told = {name: seen.devices[name] for name in watched if name in seen.devices}
        at = datetime.fromtimestamp(
            samples.columns["clock.realtime_ns"][-1] / _NANOSECONDS, UTC
        ).astimezone()
        return Reading(at, self._host, replace(seen, devices=told), watched)

    def watched(self, samples: Samples) -> dict[str, Named]:
        """By the kernel's names, in the order in which they were asked for, else in its own."""
        disks = samples.keyed("disk")
        if self.asked_for is not None:
            return {
                name: self._named(name, disks[name]) for name in self.asked_for if name in disks
            }
        busy = (name for name, columns in disks.items() if _has_done_anything(columns))
        found = (self._named(name, disks[name]) for name in busy)
        return {each.name: each for each in found if not each.is_partition}

    def _named(self, name: str, columns: Mapping[str, Values]) -> Named:
        """Asked of the kernel once for each device; another number is another device."""
        number = float(columns["number"][-1])
        before, known = self._known.get(name, (None, None))
        if known is None or before != number:
            known = named(name)
            self._known[name] = number, known
        return known


class Live:
    """Takes a sample at once, and one more for each reading: none is ever of the time since boot.

    ``places`` are those of `Watch`; ``workload`` are processes whose descendants are told of as the
    workload.
    """

    def __init__(self, places: Sequence[str] = (), workload: Sequence[int] = ()) -> None:
        self._watch = Watch(places)
        self._busiest: Busiest | None = None
        self._since_scan = 0.0
        self._reader = Reader(self._watch.asked_for, workload)

    def read(self) -> Reading:
        """What was seen since the last reading, or since this was made."""
        samples = self._reader.look()
        reading = self._watch.reading(samples)
        return replace(reading, busiest=self._last_busiest(samples, reading.seen))

    def _last_busiest(self, samples: Samples, seen: TelemetrySummary) -> Busiest | None:
        """Processes are scanned as seldom as their number asks for: what the last scan told."""
        self._since_scan += seen.seconds
        if is_scanned(samples):
            first = next(iter(seen.foreign), None)
            self._busiest = Busiest(first, self._since_scan) if first else None
            self._since_scan = 0.0
        return self._busiest

    def now(self) -> tuple[Samples, dict[str, Named]]:
        """The counters since the last reading, and the devices that are watched."""
        samples = self._reader.look()
        return samples, self._watch.watched(samples)


def readings(
    live: Live,
    interval: float,
    count: int | None = None,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> Iterator[Reading]:
    """A reading every ``interval`` seconds, ``count`` of them or without end.

    They are due at whole intervals after the first sample, so that delays do not add up; one whose
    time has passed while the machine or the program stood still is left out.
    """
    due = now()
    while count is None or count > 0:
        due = next_due(due, interval, now())
        sleep(max(0.0, due - now()))
        yield live.read()
        count = None if count is None else count - 1


def next_due(due: float, interval: float, now: float) -> float:
    """The first of ``due`` + n * ``interval``, n at least 1, that is not over."""
    missed = max(0.0, (now - due) // interval)
    return due + (missed + 1) * interval


def read_host() -> Host:
    """The machine that this is."""
    kernel = os.uname()
    cpus = os.sysconf("SC_NPROCESSORS_ONLN")
    return Host(kernel.nodename, kernel.sysname, kernel.release, kernel.machine, cpus)


def _has_done_anything(columns: Mapping[str, Values]) -> bool:
    operations = ("reads", "writes", "discards", "flushes")
    return any(columns[counter][-1] > 0 for counter in operations)
