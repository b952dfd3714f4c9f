"""Live readings: figures of the machine and its devices in each interval."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from iostudy.telemetry.summary import ForeignProcess, TelemetrySummary
from iostudy_watch.device_selection import WatchedDevice, describe_device, select_devices
from iostudy_watch.reader import SampleReader, has_processes

if TYPE_CHECKING:
    from iostudy.telemetry.samples import Samples, Values

_NANOSECONDS = 1e9


@dataclass(frozen=True)
class MachineIdentity:
    """The machine by uname(2), and its number of online processors."""

    name: str
    system: str
    release: str
    machine: str
    cpus: int


@dataclass(frozen=True)
class BusiestProcess:
    """The busiest process outside of the workload over ``seconds``."""

    process: ForeignProcess
    seconds: float


@dataclass(frozen=True)
class Reading:
    """Figures of the interval that ended ``at``; ``devices`` describes each device of ``summary``.

    Devices have the order of the selection, else the kernel's. ``busiest`` covers the last time
    between two scans of the processes, which is longer than most intervals.
    """

    at: datetime
    host: MachineIdentity
    summary: TelemetrySummary
    devices: Mapping[str, WatchedDevice]
    busiest: BusiestProcess | None = None

    def members_of(self, name: str) -> tuple[str, ...]:
        """Return the watched members of a volume: a partition, or its disk if that is watched."""
        device = self.devices[name]
        pairs = zip(device.members, device.disks, strict=True)
        watched = (part if part in self.devices else disk for part, disk in pairs)
        return tuple(dict.fromkeys(member for member in watched if member in self.devices))


class DeviceSelection:
    """The devices that are reported, and their names.

    ``places`` are as for `select_devices`. Without any, all disks and volumes with any I/O since
    they appeared are watched, as by iostat, but no partitions. Devices may come and go.
    """

    def __init__(self, places: Sequence[str] = ()) -> None:
        self.selected = select_devices(places) if places else None
        """The kernel's names of them; None for all."""
        self._host = read_machine()
        self._known: dict[str, tuple[float, WatchedDevice]] = {}

    def reading(self, samples: Samples) -> Reading:
        """Compute the figures between the first and the last sample."""
        from iostudy.telemetry.figures import (
            summarize_samples,  # not at the top: numpy is slow to load
        )

        watched = self._watched(samples)
        summary = summarize_samples(samples, watched)
        figures = {name: summary.devices[name] for name in watched if name in summary.devices}
        at = datetime.fromtimestamp(
            samples.columns["clock.realtime_ns"][-1] / _NANOSECONDS, UTC
        ).astimezone()
        return Reading(at, self._host, replace(summary, devices=figures), watched)

    def _watched(self, samples: Samples) -> dict[str, WatchedDevice]:
        """Return the devices by kernel name, in the order of the selection or of the kernel."""
        disks = samples.keyed("disk")
        if self.selected is not None:
            return {name: self._named(name, disks[name]) for name in self.selected if name in disks}
        busy = (name for name, columns in disks.items() if _has_io(columns))
        devices = (self._named(name, disks[name]) for name in busy)
        return {device.name: device for device in devices if not device.is_partition}

    def _named(self, name: str, columns: Mapping[str, Values]) -> WatchedDevice:
        """Ask the kernel once for each device; another number is another device."""
        number = float(columns["number"][-1])
        before, device = self._known.get(name, (None, None))
        if device is None or before != number:
            device = describe_device(name)
            self._known[name] = number, device
        return device


class Live:
    """Takes a sample at once and another for each reading, so none covers the time since boot.

    ``places`` are those of `DeviceSelection`. Descendants of the ``workload`` processes are
    attributed to the workload.
    """

    def __init__(self, places: Sequence[str] = (), workload: Sequence[int] = ()) -> None:
        self._watch = DeviceSelection(places)
        self._busiest: BusiestProcess | None = None
        self._since_scan = 0.0
        self._reader = SampleReader(self._watch.selected, workload)

    def read(self) -> Reading:
        """Return the figures since the last reading, or since the first sample."""
        samples = self._reader.look()
        reading = self._watch.reading(samples)
        return replace(reading, busiest=self._last_busiest(samples, reading.summary))

    def _last_busiest(self, samples: Samples, summary: TelemetrySummary) -> BusiestProcess | None:
        """Return the busiest process of the last scan; more processes are scanned less often."""
        self._since_scan += summary.seconds
        if has_processes(samples):
            first = next(iter(summary.foreign), None)
            self._busiest = BusiestProcess(first, self._since_scan) if first else None
            self._since_scan = 0.0
        return self._busiest


def readings(
    live: Live,
    interval: float,
    count: int | None = None,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> Iterator[Reading]:
    """Yield a reading every ``interval`` seconds, ``count`` of them or without end.

    They are due at whole intervals after the first sample, so that delays do not accumulate. A
    reading whose time has passed is skipped.
    """
    due = now()
    while count is None or count > 0:
        due = next_due(due, interval, now())
        sleep(max(0.0, due - now()))
        yield live.read()
        count = None if count is None else count - 1


def next_due(due: float, interval: float, now: float) -> float:
    """Return the first of ``due`` + n * ``interval``, n at least 1, that is not in the past."""
    missed = max(0.0, (now - due) // interval)
    return due + (missed + 1) * interval


def read_machine() -> MachineIdentity:
    """Return the description of this machine."""
    kernel = os.uname()
    cpus = os.sysconf("SC_NPROCESSORS_ONLN")
    return MachineIdentity(kernel.nodename, kernel.sysname, kernel.release, kernel.machine, cpus)


def _has_io(columns: Mapping[str, Values]) -> bool:
    operations = ("reads", "writes", "discards", "flushes")
    return any(columns[counter][-1] > 0 for counter in operations)
