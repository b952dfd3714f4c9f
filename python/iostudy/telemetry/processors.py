"""Figures of processors and of the recording: CPU time, frequency, temperature, gaps (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from iostudy.telemetry.samples import (
    Samples,
    Values,
    counter_increments,
    sum_known,
    time_weighted_mean,
    total_increment,
)
from iostudy.telemetry.summary import Figures

_SHORTEST_WINDOW_SECONDS = 0.5
"""Clock ticks are 10 ms: a share of one processor over less time is too coarse."""


def compute_processor_figures(samples: Samples) -> Figures:
    """Compute shares of CPU time, %core of the busiest processor, number of cores, and tasks."""
    cores = {name: values for name, values in samples.keyed("cpu").items() if name.isdecimal()}
    states = samples.group("cpu").items()
    figures = compute_cpu_shares(
        {name: sum_known(tick_increments(values)) for name, values in states}
    )
    if cores:
        figures["cores"] = float(len(cores))
        figures["%core"] = compute_busiest_core(samples.seconds, list(cores.values()))
    tasks = samples.group("tasks")
    figures |= {
        name: time_weighted_mean(values, samples.intervals) for name, values in tasks.items()
    }
    if (load := samples.group("load").get("one_hundredths")) is not None:
        figures["load"] = time_weighted_mean(load, samples.intervals) / 100
    return figures


def compute_cpu_shares(moved: Mapping[str, float]) -> dict[str, float]:
    """Compute shares of all CPU time in percent: iostat's %user, %nice, %system, ..., %idle.

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


def compute_busiest_core(seconds: Values, cores: list[Mapping[str, Values]]) -> float:
    """Return the busiest processor's use in percent: the mean over windows of half a second.

    A single thread that migrates keeps one processor busy in each window, and none of them over
    the whole time. ``cores`` have ``busy``, ``idle`` and ``steal`` ticks.
    """
    ends = _windows(seconds)
    lengths = np.diff(seconds[ends])
    busy = np.array([tick_increments(core["busy"][ends]) for core in cores])
    every = np.array(
        [sum(tick_increments(ticks[ends]) for ticks in core.values()) for core in cores]
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(every > 0, busy / every, np.nan)
    known = np.isfinite(shares).any(axis=0)
    if not known.any():
        return float("nan")
    return 100 * float(np.average(np.nanmax(shares[:, known], axis=0), weights=lengths[known]))


def tick_increments(state: Values) -> Values:
    """Return the increments of a state of processors in each interval; NaN if unknown.

    A decrease counts as 0, as in iostat and top: the kernel's iowait and idle sometimes decrease
    (proc_stat(5)), and would invalidate all other shares.
    """
    return np.maximum(np.diff(state), 0)


def _windows(seconds: Values) -> list[int]:
    """Return samples at least a window apart; the last window may be longer, never shorter."""
    ends = [0]
    for index, at in enumerate(seconds):
        if at - seconds[ends[-1]] >= _SHORTEST_WINDOW_SECONDS:
            ends.append(index)
    if ends[-1] != len(seconds) - 1:
        ends[-1 if len(ends) > 1 else len(ends) :] = [len(seconds) - 1]
    return ends


_MILLISECONDS = 3
"""Decimals of seconds. Both clocks are read one after the other, so that less is not reliable."""


def compute_clock_figures(samples: Samples) -> Figures:
    """Compute ``suspended_s``, ``longest_gap_s`` between two samples, and ``samples``.

    All rates are over time in which the machine was awake (CLOCK_MONOTONIC). A suspend is the
    lead of CLOCK_BOOTTIME.
    """
    figures = {"samples": float(len(samples.seconds))}
    if len(samples.intervals):
        figures["longest_gap_s"] = float(samples.intervals.max())
    if (boottime := samples.group("clock").get("boottime_ns")) is not None:
        ahead = sum_known(counter_increments(boottime)) / 1e9 - float(samples.seconds[-1])
        figures["suspended_s"] = max(0.0, round(ahead, _MILLISECONDS))
    return figures


_KHZ_PER_MHZ = 1000


def compute_frequency_figures(samples: Samples) -> Figures:
    """Compute ``MHz``: the mean frequency of the processors, weighted by their busy time.

    An idle processor lowers its frequency without any effect on the work of others.
    """
    pairs = list(_readings(samples))
    if not pairs:
        return {}
    khz, busy = (np.concatenate(column) for column in zip(*pairs, strict=True))
    weights = busy if busy.sum() > 0 else np.ones_like(busy)
    return {"MHz": float(np.average(khz, weights=weights)) / _KHZ_PER_MHZ}


def _readings(samples: Samples) -> Iterator[tuple[Values, Values]]:
    """Yield the frequencies of each processor, and its busy ticks since the reading before."""
    cores = samples.keyed("cpu")
    for number, columns in samples.keyed("frequency").items():
        there = np.isfinite(columns["khz"])
        if number in cores and there.sum() > 1:
            there &= np.isfinite(cores[number]["busy"])
            yield columns["khz"][there][1:], tick_increments(cores[number]["busy"][there])


_MILLI = 1000


def compute_temperature_figures(samples: Samples) -> Figures:
    """Compute ``celsius_max`` of all CPUs, and ``throttles`` of cores and packages."""
    figures = {}
    sensors = [sensor["millicelsius"] for sensor in samples.keyed("thermal").values()]
    if sensors:
        figures["celsius_max"] = float(np.nanmax(sensors)) / _MILLI
    events = samples.group("thermal")
    if events:
        figures["throttles"] = sum(map(total_increment, events.values()))
    return figures
