"""Measurement of windows of a running workload.

On a busy host this process may wait for a CPU between two calls for longer than a window. A window
that would start in the past is therefore requested again, later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from iostudy.analysis.switchback.window_plan import Rehearsal, WindowPlan
from iostudy.errors import WorkloadError
from iostudy.node.protocol import SwitchedRun
from iostudy.workloads.windows import Window, WindowCount

HALVES = 2
"""Parts of a window, which a test of its settling compares."""
_POLL_SECONDS = 0.005
_PATIENCE_SECONDS = 60.0
"""Longest time for the operations in flight at the end of a window."""
_LEAD_SECONDS = 0.002
_LONGEST_LEAD_SECONDS = 10.0
"""Shortest and longest time from a request to the start of its window."""
_WARM_UP_SECONDS = 0.5
_REHEARSALS, _REHEARSAL_SECONDS = 2, 0.2
"""Times that a rehearsal counts each configuration, and the length of each."""


@dataclass(frozen=True)
class HalfWindow:
    """The counts of half a window; ``previous`` is the configuration before it."""

    configuration: str
    previous: str
    count: WindowCount


def rehearse(run: SwitchedRun, labels: Sequence[str]) -> Rehearsal:
    """Switch every configuration in a few times, and return what a plan needs.

    The rate is that of the slowest configuration. One operation stands for none.
    """
    run.wait(run.now() + _WARM_UP_SECONDS)
    operations, switches = dict.fromkeys(labels, 0), list[float]()
    for _ in range(_REHEARSALS):
        for label in (*labels[1:], labels[0]):
            began = run.now()
            run.switch(label)
            switches.append(run.now() - began)
            *_, count = collect(run, _open(run, run.now(), _REHEARSAL_SECONDS, 1))
            run.verify()
            operations[label] += count.operations
    rate = max(1, min(operations.values())) / (_REHEARSALS * _REHEARSAL_SECONDS)
    # The first switches also read what they have to write.
    return Rehearsal(rate, sum(switches[len(labels) :]) / len(switches[len(labels) :]))


def measure_pair(
    run: SwitchedRun, order: Sequence[str], before: str, plan: WindowPlan, length: float
) -> tuple[HalfWindow, ...]:
    """Measure a round in this order and one in the reverse order; return the half windows.

    ``before`` is in force, and ``length`` is that of the windows relative to the plan. The last
    configuration of the first round is the first of the second, so that it stays in force for both
    of its windows. Nothing but writing and reading back separates a window from the next washout.
    """
    requested, labels = list[Window](), list[str]()
    seconds = length * plan.window_seconds / HALVES
    for label, stay in groupby([*order, *reversed(order)]):
        run.switch(label)
        start, count = run.now() + plan.washout_seconds, HALVES * len(list(stay))
        opened = _open(run, start, seconds, count)
        requested += opened
        run.wait(opened[-1].end)
        run.verify()
        labels += [""] * (len(opened) - count) + [label] * count
    found = zip(labels, collect(run, requested), strict=True)
    return tuple(_add_previous([own for own in found if own[0]], before))


def _open(run: SwitchedRun, start: float, seconds: float, count: int) -> list[Window]:
    """Open contiguous windows of equal length from this time on, or as soon as possible after.

    Only the last ``count`` of the returned ones are contiguous: others were opened too late.
    """
    lead, opened = _LEAD_SECONDS, list[Window]()
    while True:
        edges = [start + number * seconds for number in range(count + 1)]
        try:
            for window in map(Window, edges[:-1], edges[1:]):
                run.meter.open(window)
                opened.append(window)
        except ValueError:
            if lead > _LONGEST_LEAD_SECONDS:
                raise
            start = max([run.now() + lead, *(window.end for window in opened[-1:])])
            lead *= 2
        else:
            return opened


def _add_previous(counted: Sequence[tuple[str, WindowCount]], before: str) -> Iterator[HalfWindow]:
    for label, count in counted:
        yield HalfWindow(label, before, count)
        before = label


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
