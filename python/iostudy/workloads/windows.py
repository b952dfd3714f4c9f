"""Steady runs of a workload, and exact counts of their operations in windows of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

MIN_OPERATIONS = 20
"""In a window that has a percentile: a median of fewer depends on single operations."""


@dataclass(frozen=True)
class Window:
    """Half-open interval of time, in seconds of CLOCK_MONOTONIC (``time.monotonic``)."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.start


@dataclass(frozen=True)
class WindowCount:
    """What completed in a window.

    ``figures`` are by name and unit those of the workload's definition; a percentile is absent
    where the window has too few operations for it (`required_operations`). ``operations`` is the
    number of completed operations of all kinds.
    """

    window: Window
    figures: Mapping[str, float]
    operations: int


class WindowMeter(Protocol):
    """Counts of a steady run in windows. Every method may be called from any thread."""

    def open(self, window: Window) -> None:
        """Request the counts of a window, before it starts and in ascending order.

        ValueError where it is empty, starts in the past, or starts before the end of the window
        opened before it.
        """

    def completed(self) -> Sequence[WindowCount]:
        """The windows that are complete since the last call, in order.

        A window is complete when every thread of the workload has noticed a time after its end.
        """


class SteadyRun(Protocol):
    """A workload that repeats itself until ``place.tick`` returns False."""

    @property
    def meter(self) -> WindowMeter:
        """Its windows; they may be opened before and while it runs."""

    def run(self) -> None:
        """Run in the calling thread until ``place.tick`` returns False, which is its normal end.

        Signals are handled only where the caller is the main thread. Raises WorkloadError.
        """

    def set_option(self, option: str, value: str) -> None:
        """Change one of the definition's ``switchable_options`` at once; from any thread.

        ``value`` is written as in a study file. ValueError for other options and values.
        """


def refuse_option(option: str, _: str) -> None:
    """The `SteadyRun.set_option` of a run without switchable options."""
    raise ValueError(f"{option} cannot change while the workload runs")


def required_operations(percentile: float) -> int:
    """Operations that a window needs for a percentile of (0, 100): one of them is above it.

    >>> [required_operations(each) for each in (50, 95, 99, 99.9)]
    [20, 20, 100, 1000]
    """
    return max(MIN_OPERATIONS, round(100 / (100 - percentile)))


def required_for_figure(name: str) -> int:
    """Operations that a window needs for a figure, half as many again for a percentile.

    Some of the operations are of another kind, and their number varies between windows.

    >>> [required_for_figure(each) for each in ("iops", "read_latency_p50", "read_latency_p99")]
    [20, 30, 150]
    """
    stem, separator, percentile = name.rpartition("_p")
    if stem and separator and percentile.replace(".", "", 1).isdigit():
        return 3 * required_operations(float(percentile)) // 2
    return MIN_OPERATIONS
