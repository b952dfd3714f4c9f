"""Measurement of windows of a running workload.

On a busy host this process may wait for a CPU between two calls for longer than a window. A window
that would start in the past is therefore requested again, later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iostudy.analysis.switchback.window_plan import WindowPlan
from iostudy.errors import WorkloadError
from iostudy.node.protocol import SwitchedRun
from iostudy.workloads.windows import Window, WindowCount

_POLL_SECONDS = 0.005
_PATIENCE_SECONDS = 60.0
"""Longest time for the operations in flight at the end of a window."""
_LEAD_SECONDS = 0.002
_BINS_LEAD_SECONDS = 0.05
_LONGEST_LEAD_SECONDS = 10.0
"""Shortest and longest time from a request to the start of its window."""


@dataclass(frozen=True)
class RoundCounts:
    """The counts of the windows of a round, and the reasons why it does not count."""

    counts: list[WindowCount]
    invalid_reasons: tuple[str, ...]


def open_window(run: SwitchedRun, start: float, seconds: float) -> Window:
    """Open a window that starts at this time, or as soon as possible after it."""
    lead = _LEAD_SECONDS
    while True:
        window = Window(start, start + seconds)
        try:
            run.meter.open(window)
        except ValueError:
            if lead > _LONGEST_LEAD_SECONDS:
                raise
            start, lead = run.now() + lead, 2 * lead
        else:
            return window


def open_bins(run: SwitchedRun, seconds: float, count: int) -> list[Window]:
    """Open contiguous windows of equal length, the first as soon as possible."""
    lead = _BINS_LEAD_SECONDS
    while True:
        start, opened = run.now() + lead, list[Window]()
        edges = [start + number * seconds for number in range(count + 1)]
        try:
            for number in range(count):
                opened.append(Window(edges[number], edges[number + 1]))
                run.meter.open(opened[-1])
        except ValueError:
            if lead > _LONGEST_LEAD_SECONDS:
                raise
            collect(run, opened[:-1])
            lead *= 2
        else:
            return opened


def measure_round(run: SwitchedRun, order: Sequence[str], plan: WindowPlan) -> RoundCounts:
    """Switch every configuration in once, and count their windows in this order.

    The first configuration runs one discarded window longer. Its window therefore follows a period
    of its own configuration, and in random orders every configuration precedes every window equally
    often (the extra period of Lucas 1957, at the start). The next switch does not wait for counts.
    """
    opened, reasons = list[Window](), list[str]()
    discarded = plan.window_seconds
    for label in order:
        run.switch(label)
        start = run.now() + plan.washout_seconds[label] + discarded
        opened.append(open_window(run, start, plan.window_seconds))
        run.wait(opened[-1].start)
        run.begin_check()
        run.wait(opened[-1].end)
        reasons += (f"{label}: {reason}" for reason in run.end_check())
        discarded = 0.0
    return RoundCounts(collect(run, opened), tuple(reasons))


def collect(run: SwitchedRun, windows: list[Window]) -> list[WindowCount]:
    """Wait for the end of opened windows and return their counts.

    WorkloadError if the run ends, or if an operation takes longer than a minute.
    """
    if windows:
        run.wait(windows[-1].end)
    found = list(run.meter.completed())
    deadline = run.now() + _PATIENCE_SECONDS
    while len(found) < len(windows):
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


def measure_bins(run: SwitchedRun, seconds: float, count: int) -> list[WindowCount]:
    """Measure contiguous windows of equal length."""
    return collect(run, open_bins(run, seconds, count))
