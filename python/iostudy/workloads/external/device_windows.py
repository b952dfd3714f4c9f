"""Windows of a running program, measured by the counters of the devices below its folder.

A program's own output has no exact times, so that the bytes that the devices complete count. Bytes
and not requests: settings of a queue change how requests are merged and split. I/O of other
programs on the same devices counts too. Source: Documentation/block/stat.rst of the kernel.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock

from iostudy import units
from iostudy.errors import WorkloadError, WorkloadStoppedError
from iostudy.host import devices, stack
from iostudy.workloads.core_errors import io_error
from iostudy.workloads.definition import Figure
from iostudy.workloads.external import program as programs
from iostudy.workloads.external.program import Program
from iostudy.workloads.option_types import MAX_SECONDS
from iostudy.workloads.tick import Tick
from iostudy.workloads.windows import Window, WindowCount, refuse_option
from iostudy.workloads.workload import Place

_SECTOR_BYTES = 512
_READS, _SECTORS_READ, _WRITES, _SECTORS_WRITTEN = 0, 2, 4, 6


@dataclass(frozen=True)
class CounterReading:
    """Counters of some devices at a time of CLOCK_MONOTONIC, summed: completed since boot."""

    at: float
    requests: int
    read_bytes: int
    written_bytes: int


@dataclass(frozen=True)
class DeviceCounters:
    """The counter files of devices."""

    paths: tuple[Path, ...]

    @classmethod
    def below(cls, directory: str | Path) -> DeviceCounters:
        """The disks or volumes of the file system; TargetError where it has none."""
        tops = stack.top_devices(directory)
        counting = (device for top in tops for device in stack.devices_with_counters(top))
        return cls(tuple(devices.class_folder(device.name) / "stat" for device in counting))

    def read(self) -> CounterReading:
        """Read all counters; the time is the middle of before and after.

        WorkloadError for a device that is gone.
        """
        before = time.monotonic()
        try:
            rows = [[int(word) for word in path.read_text().split()] for path in self.paths]
        except OSError as error:
            raise io_error("to read the counters of the devices", error, Path("/sys")) from error
        return CounterReading(
            (before + time.monotonic()) / 2,
            sum(row[_READS] + row[_WRITES] for row in rows),
            _SECTOR_BYTES * sum(row[_SECTORS_READ] for row in rows),
            _SECTOR_BYTES * sum(row[_SECTORS_WRITTEN] for row in rows),
        )


def rates(start: CounterReading, end: CounterReading) -> dict[str, float]:
    """Bandwidths in MiB/s over the time between two readings, by the names of `FIGURES`."""
    mib_seconds = units.MIB * (end.at - start.at)
    read = (end.read_bytes - start.read_bytes) / mib_seconds
    written = (end.written_bytes - start.written_bytes) / mib_seconds
    return {"bandwidth": read + written, "read_bandwidth": read, "write_bandwidth": written}


FIGURES = (
    Figure("bandwidth", "MiB/s", "bytes read and written by the target's devices", True),
    Figure("read_bandwidth", "MiB/s", "bytes read by the target's devices", True),
    Figure("write_bandwidth", "MiB/s", "bytes written by the target's devices", True),
)


class DeviceMeter:
    """Windows that a thread counts by reading the devices' counters at both bounds."""

    def __init__(self, counters: DeviceCounters) -> None:
        self._counters = counters
        self._requested: SimpleQueue[Window | None] = SimpleQueue()
        self._completed: deque[WindowCount] = deque()
        self._stopped = Event()
        self._last_end = 0.0
        self._lock = Lock()

    def open(self, window: Window) -> None:
        """Request a window; ValueError as in `WindowMeter`."""
        with self._lock:
            if window.end <= window.start:
                raise ValueError(f"{window}: its end is not after its start")
            if window.start < self._last_end:
                raise ValueError(
                    f"{window}: it starts before the end of the window opened before it"
                )
            if window.start <= time.monotonic():
                raise ValueError(f"{window}: its start is in the past; open it earlier")
            self._last_end = window.end
            self._requested.put(window)

    def completed(self) -> Sequence[WindowCount]:
        """The windows that were read since the last call."""
        return [self._completed.popleft() for _ in range(len(self._completed))]

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count windows in a thread until the context ends."""
        with ThreadPoolExecutor(1, thread_name_prefix="windows") as pool:
            future = pool.submit(self._count)
            try:
                yield
            finally:
                self._stopped.set()
                self._requested.put(None)
            future.result()

    def _count(self) -> None:
        window_end, end = 0.0, None
        while window := self._requested.get():
            start = end if window.start == window_end else self._read_at(window.start)
            window_end, end = window.end, self._read_at(window.end)
            if start is None or end is None:
                return
            operations = end.requests - start.requests
            figures = rates(start, end)
            self._completed.append(WindowCount(window, figures, operations))

    def _read_at(self, seconds: float) -> CounterReading | None:
        """Read the counters as soon as it is so late; None where the run ends before."""
        stopped = self._stopped.wait(max(0.0, seconds - time.monotonic()))
        return None if stopped else self._counters.read()


@dataclass(frozen=True)
class ProgramSteadyRun:
    """A program that runs until the tick of its place stops it."""

    program: Program
    tick: Tick
    meter: DeviceMeter
    set_option: Callable[[str, str], None] = refuse_option

    def run(self) -> None:
        """Run until the tick returns False; WorkloadError where the program ends before."""
        with self.meter.counting():
            try:
                ended = programs.run(self.program, self.tick)
            except WorkloadStoppedError:
                return
        ended.require_success()
        raise WorkloadError(
            "a program that runs until it is stopped",
            found=f"it ended by itself after {units.format_seconds(ended.wall_seconds)}",
            where=str(self.program),
            remedy="let it repeat itself without an end, or decide by whole trials",
        )


def steady_program(program: Program, place: Place) -> ProgramSteadyRun:
    """A run of a program without an end of its own, and without its time limit."""
    meter = DeviceMeter(DeviceCounters.below(place.directory))
    return ProgramSteadyRun(replace(program, limit_seconds=MAX_SECONDS), place.tick, meter)
