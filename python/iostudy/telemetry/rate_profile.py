"""Shape of a device's rate over a recording: a drop to a steady floor, and stalls (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.telemetry.iostat import NUMBER, find_unchanged_intervals
from iostudy.telemetry.processors import tick_increments
from iostudy.telemetry.samples import Samples, Values, counter_increments
from iostudy.telemetry.summary import Figures

_KB_PER_SECTOR = 0.5
_MIN_WINDOWS = 10
"""A shorter recording has no shape."""
_WINDOW_SECONDS = 0.2
"""Two slices of the kernel's own limiter (blk-throttle.c), which serves in bursts."""
_STEADY_WINDOW_SECONDS = 0.5
_DROP = 0.7
"""A drop is to at most this share of the rate before it: a choice, beyond usual noise."""
_SHORTEST_LEVEL = 2
"""Windows of each level."""
_STEADY = 0.15
"""Largest coefficient of variation of half seconds on a floor: a limiter's rate is constant."""
_EXPLAINED = 0.5
"""Smallest share of the variance of the rate that the drop explains."""
_STALLED = 0.2
"""A stall is below this share of the median rate, with requests in the device throughout."""
_SHORTEST_STALL = 0.15
"""Seconds; shorter ones are single slow requests."""
_MIN_REQUESTS = 3
"""Median requests of an interval; with fewer an interval without one is chance."""
_STOLEN = 0.2
"""Share of an interval's CPU time; beyond it the machine itself may not have run."""


@dataclass(frozen=True)
class _Series:
    """Intervals of one device: seconds, kB, requests, and whether it had requests throughout."""

    seconds: Values
    moved_kb: Values
    requests: Values
    is_loaded: NDArray[np.bool_]

    @property
    def rates(self) -> Values:
        """The rate of each interval in kB/s."""
        return self.moved_kb / self.seconds

    def windows(self, seconds: float) -> _Series:
        """Join intervals to windows of about so many seconds, the last one not shorter."""
        ends = np.cumsum(self.seconds)
        count = max(1, int(ends[-1] / seconds))
        places = np.minimum((ends - self.seconds / 2) // seconds, count - 1)
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        return _Series(
            np.add.reduceat(self.seconds, starts),
            np.add.reduceat(self.moved_kb, starts),
            np.add.reduceat(self.requests, starts),
            np.logical_and.reduceat(self.is_loaded, starts),
        )

    def split(self, seconds: float) -> list[_Series]:
        """Return the intervals before so many seconds after the first, and the others."""
        is_late = np.cumsum(self.seconds) - self.seconds / 2 > seconds
        return [
            _Series(
                self.seconds[part], self.moved_kb[part], self.requests[part], self.is_loaded[part]
            )
            for part in (~is_late, is_late)
        ]


def compute_rate_profiles(
    samples: Samples, devices: Mapping[str, Figures]
) -> Mapping[str, Figures]:
    """Compute ``%floor``, ``floor_kB/s`` and ``%stalled`` of devices that moved data.

    ``%floor`` is the share of the time after a lasting drop of the rate to a steady level
    ``floor_kB/s``; both are absent without one. ``%stalled`` is the share of the time in which a
    device completed hardly anything with requests under way, relative to its usual rate.
    """
    stolen, disks = _stolen(samples), samples.keyed("disk")
    active = [name for name, rates in devices.items() if rates["kB_read"] + rates["kB_wrtn"] > 0]
    profiles = {}
    for name in active:
        series = _series(disks[name], samples.intervals, stolen)
        if series.seconds.sum() >= _MIN_WINDOWS * _WINDOW_SECONDS:
            profiles[name] = dict(_profile(series))
    return profiles


def _series(disk: Mapping[str, Values], seconds: Values, stolen: Values) -> _Series:
    sectors = counter_increments(disk["sectors_read"]) + counter_increments(disk["sectors_written"])
    requests = counter_increments(disk["reads"]) + counter_increments(disk["writes"])
    loaded = np.minimum(disk["in_flight"][:-1], disk["in_flight"][1:]) > 0
    known = find_unchanged_intervals(disk[NUMBER]) & np.isfinite(sectors) & (seconds > 0)
    return _Series(
        seconds[known],
        sectors[known] * _KB_PER_SECTOR,
        requests[known],
        (loaded & (stolen < _STOLEN))[known],
    )


def _stolen(samples: Samples) -> Values:
    """Return the share of CPU time that the hypervisor took in each interval."""
    every = {name: tick_increments(values) for name, values in samples.group("cpu").items()}
    total = sum(every.values(), np.zeros(len(samples.intervals)))
    steal = every.get("steal", np.zeros_like(total))
    return np.asarray(steal / np.maximum(total, 1))


def _profile(series: _Series) -> Iterator[tuple[str, float]]:
    total, begin = float(series.seconds.sum()), _find_floor(series.windows(_WINDOW_SECONDS))
    parts = [series] if begin is None else series.split(begin)
    if begin is not None:
        floor = parts[-1]
        yield "%floor", 100 * float(floor.seconds.sum()) / total
        yield "floor_kB/s", float(floor.moved_kb.sum() / floor.seconds.sum())
    yield "%stalled", 100 * sum(map(_stalled_seconds, parts)) / total


def _find_floor(series: _Series) -> float | None:
    """Return the second from which on the rate stays at a lower, steady level.

    The split leaves the least sum of squares around both means.
    """
    rates = series.rates
    count = np.arange(1, len(rates))
    sums, squares = np.cumsum(rates), np.cumsum(rates**2)
    before, after = sums[:-1] / count, (sums[-1] - sums[:-1]) / (len(rates) - count)
    rest = squares[-1] - count * before**2 - (len(rates) - count) * after**2
    is_possible = np.minimum(count, len(rates) - count) >= _SHORTEST_LEVEL
    if not is_possible.any():
        return None
    split = int(np.argmin(np.where(is_possible, rest, np.inf)))
    variance = float(squares[-1] - sums[-1] ** 2 / len(rates))
    begin = float(series.seconds[: split + 1].sum())
    is_drop = 0 < after[split] <= _DROP * before[split]
    explains = rest[split] <= (1 - _EXPLAINED) * variance
    return begin if is_drop and explains and _is_steady(series.split(begin)[1]) else None


def _is_steady(series: _Series) -> bool:
    """Return whether half seconds have nearly the same rate."""
    rates = series.windows(_STEADY_WINDOW_SECONDS).rates
    return float(rates.std()) <= _STEADY * float(rates.mean())


def _stalled_seconds(series: _Series) -> float:
    rates, seconds = series.rates, series.seconds
    if not len(rates) or float(np.median(series.requests)) < _MIN_REQUESTS:
        return 0.0
    is_stalled = (rates <= _STALLED * float(np.median(rates))) & series.is_loaded
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_stalled, [False]))))
    runs = (float(seconds[begin:end].sum()) for begin, end in edges.reshape(-1, 2))
    return sum(run for run in runs if run >= _SHORTEST_STALL)
