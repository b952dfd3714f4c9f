"""Shares of CPU time: of all processors, and of the busiest one (pure)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iostudy.telemetry.samples import Samples, Values, held, total
from iostudy.telemetry.summary import Figures

_SHORTEST_WINDOW_SECONDS = 0.5
"""Clock ticks are 10 ms: in less than this a share of one processor is too coarse."""


def processor_figures(samples: Samples) -> Figures:
    """Shares of CPU time, %core of the busiest processor, how many there are, and tasks."""
    each = {name: own for name, own in samples.keyed("cpu").items() if name.isdecimal()}
    states = samples.group("cpu").items()
    figures = cpu_shares({name: total(moved_ticks(values)) for name, values in states})
    if each:
        figures["cores"] = float(len(each))
        figures["%core"] = busiest_core(samples.seconds, list(each.values()))
    tasks = samples.group("tasks")
    figures |= {name: held(values, samples.intervals) for name, values in tasks.items()}
    if (load := samples.group("load").get("one_hundredths")) is not None:
        figures["load"] = held(load, samples.intervals) / 100
    return figures


def cpu_shares(moved: Mapping[str, float]) -> dict[str, float]:
    """Shares of all CPU time in percent by iostat's names: %user, %nice, %system, ..., %idle.

    As in iostat, %system includes interrupts. ``moved`` are ticks by the kernel's names.
    """
    if not (total := sum(moved.values())):
        return {}
    ticks = {
        "%user": moved["user"],
        "%nice": moved["nice"],
        "%system": moved["system"] + moved["irq"] + moved["softirq"],
        "%iowait": moved["iowait"],
        "%steal": moved["steal"],
        "%idle": moved["idle"],
    }
    return {name: 100 * value / total for name, value in ticks.items()}


def busiest_core(seconds: Values, cores: list[Mapping[str, Values]]) -> float:
    """How busy the busiest processor was, in percent: the mean over windows of half a second.

    A single thread that wanders from one to the next keeps the busiest one busy in each window,
    and none of them over the whole time. ``cores`` have ``busy``, ``idle`` and ``steal`` ticks.
    """
    ends = _windows(seconds)
    lengths = np.diff(seconds[ends])
    busy = np.array([moved_ticks(core["busy"][ends]) for core in cores])
    every = np.array([sum(moved_ticks(ticks[ends]) for ticks in core.values()) for core in cores])
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(every > 0, busy / every, np.nan)
    known = np.isfinite(shares).any(axis=0)
    if not known.any():
        return float("nan")
    return 100 * float(np.average(np.nanmax(shares[:, known], axis=0), weights=lengths[known]))


def moved_ticks(state: Values) -> Values:
    """How far a state of processors moved in each interval; NaN where not known.

    One that went back did not move, as iostat and top have it: the kernel's iowait and idle do that
    now and then (proc_stat(5)), and all other shares would be lost with it.
    """
    return np.maximum(np.diff(state), 0)


def _windows(seconds: Values) -> list[int]:
    """Samples so far apart; the last one ends the last window, which is never the shorter."""
    ends = [0]
    for index, at in enumerate(seconds):
        if at - seconds[ends[-1]] >= _SHORTEST_WINDOW_SECONDS:
            ends.append(index)
    if ends[-1] != len(seconds) - 1:
        ends[-1 if len(ends) > 1 else len(ends) :] = [len(seconds) - 1]
    return ends
