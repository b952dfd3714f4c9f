"""Measurement of windows of a running workload."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from iostudy.errors import WorkloadError
from iostudy.node.protocol import SwitchedRun
from iostudy.workloads.windows import Window, WindowCount

_POLL_SECONDS = 0.005
_PATIENCE_SECONDS = 60.0
"""Longest time for the operations in flight at the end of a window."""


def measure_windows(run: SwitchedRun, windows: Sequence[Window]) -> list[WindowCount]:
    """Open windows in ascending order, wait for their end and return their counts.

    WorkloadError if the run ends, or if an operation takes longer than a minute.
    """
    for window in windows:
        run.meter.open(window)
    run.wait(windows[-1].end)
    return collect_windows(run, len(windows))


def collect_windows(run: SwitchedRun, count: int) -> list[WindowCount]:
    """Return the counts of so many windows as soon as all of them are complete."""
    found = list(run.meter.completed())
    deadline = run.now() + _PATIENCE_SECONDS
    while len(found) < count:
        if run.now() > deadline:
            raise WorkloadError(
                "the counts of a window",
                found=f"an operation has not completed for {_PATIENCE_SECONDS:g} s",
                where="the workload",
                remedy="see dmesg for errors of the device",
            )
        run.wait(run.now() + _POLL_SECONDS)
        found += run.meter.completed()
    return found


def split_windows(start: float, seconds: float, count: int) -> list[Window]:
    """Return contiguous windows of equal length."""
    edges = [start + number * seconds for number in range(count + 1)]
    return [Window(*pair) for pair in itertools.pairwise(edges)]
