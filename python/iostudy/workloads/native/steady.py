"""Steady runs of native jobs, whose workers count windows themselves."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock

from iostudy import units
from iostudy._native import FileJob, IoStats, Latencies, WindowLog
from iostudy.job import JobSpec
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.definition import Figure
from iostudy.workloads.native.job_files import require_present
from iostudy.workloads.native.latency import PERCENTILES
from iostudy.workloads.tick import Tick
from iostudy.workloads.windows import Window, WindowCount, refuse_option, required_operations
from iostudy.workloads.workload import Place

Figures = Callable[[Sequence[IoStats], float], Mapping[str, float]]
"""The figures of a window from its counts by kind of operation, and its length in seconds."""


class NativeMeter:
    """Windows of a native job. `log` is given to the job; it serves one run."""

    def __init__(self, figures: Figures) -> None:
        self.log = WindowLog()
        self._figures = figures
        self._opened: deque[Window] = deque()
        self._lock = Lock()

    def open(self, window: Window) -> None:
        """Publish a window to the job's workers; ValueError as in `WindowMeter`."""
        with self._lock:
            self.log.open(window.start, window.end)
            self._opened.append(window)

    def completed(self) -> Sequence[WindowCount]:
        """The windows that all workers have passed since the last call."""
        with self._lock:
            return [self._count(self._opened.popleft(), window) for window in self.log.completed()]

    def _count(self, window: Window, stats: Sequence[IoStats]) -> WindowCount:
        operations = sum(stat.latencies.count for stat in stats)
        return WindowCount(window, self._figures(stats, window.seconds), operations)


@dataclass(frozen=True)
class NativeSteadyRun:
    """A native job that repeats itself until its tick returns False.

    ``repeat`` runs it with the meter's log; ``verify`` raises WorkloadError where its files are
    gone after it. ``doing`` is such as "to read the files".
    """

    meter: NativeMeter
    repeat: Callable[[WindowLog, Tick], object]
    place: Place
    doing: str
    verify: Callable[[], None] = lambda: None
    set_option: Callable[[str, str], None] = refuse_option

    def run(self) -> None:
        """Run until the tick returns False; WorkloadError where the job fails."""
        with translate_core_errors(self.doing, self.place.directory):
            self.repeat(self.meter.log, self.place.tick)
        self.verify()


def steady_file_run(spec: JobSpec, place: Place, doing: str, figures: Figures) -> NativeSteadyRun:
    """A run of a file job over its records again and again; counts of reads, writes and syncs."""
    job = FileJob(spec)
    paths = [Path(path) for paths in spec.threads for path in paths]
    verify = partial(require_present, paths, place)
    set_option = partial(_set_slow_down, job)
    return NativeSteadyRun(NativeMeter(figures), job.repeat, place, doing, verify, set_option)


def _set_slow_down(job: FileJob, option: str, value: str) -> None:
    if option != "slow_down":
        refuse_option(option, value)
    job.set_slow_down(units.parse_percent(value))


def window_percentiles(latencies: Latencies, prefix: str = "latency") -> dict[str, float]:
    """Percentiles in microseconds of a window that has enough operations for them."""
    percentiles = [p for p in PERCENTILES if latencies.count >= required_operations(p)]
    values = latencies.percentiles_us(percentiles)
    return {f"{prefix}_p{p:g}": value for p, value in zip(percentiles, values, strict=True)}


BUFFERED_READS = (
    "buffered reads find their files in the page cache after the first pass; direct: true reads "
    "them from the device in every pass"
)
BUFFERED_WRITES = (
    "buffered writes complete before they reach the device, perhaps under another configuration; "
    "direct: true writes them at once"
)
"""Reason against windows of I/O through the page cache, which hides the device."""


def window_names(figures: Iterable[Figure], *rates: str) -> tuple[str, ...]:
    """The names of those figures that end like one of ``rates`` or are percentiles, in order."""
    endings = (*rates, *(f"_p{percentile:g}" for percentile in PERCENTILES))
    return tuple(figure.name for figure in figures if figure.name.endswith(endings))
