"""Samples as columns, and increments of counters between them (pure).

Columns are called ``group.counter`` or ``group.key.counter``; a key may hold dots itself
(``disk.cciss/c0d0.reads``). docs/telemetry/samples.md lists them. Counters are those of the kernel,
unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from iostudy import _native

Values = NDArray[np.float64]
"""A value for each sample, or for each interval between two; NaN if missing."""

_WRAP_32 = 2.0**32
_NANOSECONDS = 1e9
_MICROSECONDS = 1e6
SECONDS = "seconds"
_LAYOUTS_KEPT = 8
"""Column layouts in the cache: a live view has the same columns in almost every sample."""


@dataclass(frozen=True)
class ProcessUsage:
    """I/O and CPU time of a process over the samples, with its children too short for a scan.

    Bytes are those that it caused to be read from storage, or written there sooner or later.
    """

    pid: int
    name: str
    of_workload: bool
    cpu_seconds: float
    read_bytes: int
    written_bytes: int


@dataclass(frozen=True)
class Samples:
    """``seconds`` since the first sample, and a value of each column at each of them.

    ``processes`` are the busiest of the workload and of others; they are not kept in a file.
    """

    seconds: Values
    columns: Mapping[str, Values]
    processes: tuple[ProcessUsage, ...] = ()

    @classmethod
    def from_native(cls, native: _native.Samples) -> Samples:
        """Convert the sampler's samples, exact up to 2**53. Columns without values are left out."""
        at = np.frombuffer(native.timestamps(), np.uint64)
        names = native.names
        values = np.frombuffer(native.values(), np.float64).reshape(len(names), len(at))
        places = np.flatnonzero(np.isfinite(values).any(axis=1)).tolist()
        columns = {names[place]: values[place] for place in places}
        processes = tuple(
            ProcessUsage(pid, name, of_workload, cpu_us / _MICROSECONDS, read, written)
            for pid, name, of_workload, cpu_us, read, written in native.processes()
        )
        return cls((at - at[0]) / _NANOSECONDS, columns, processes)

    @cached_property
    def _groups(self) -> Mapping[str, Mapping[str, Mapping[str, Values]]]:
        columns = self.columns
        return {
            group: {
                key: {counter: columns[name] for counter, name in names.items()}
                for key, names in keys.items()
            }
            for group, keys in _grouped(tuple(columns)).items()
        }

    def keyed(self, group: str) -> Mapping[str, Mapping[str, Values]]:
        """Return the columns of each key of ``group``, by counter; none if not sampled."""
        return {key: samples for key, samples in self._groups.get(group, {}).items() if key}

    def group(self, group: str) -> Mapping[str, Values]:
        """Return the columns of ``group`` without a key, by counter."""
        return self._groups.get(group, {}).get("", {})

    @cached_property
    def intervals(self) -> Values:
        """Seconds between each sample and the next."""
        return np.diff(self.seconds)


@lru_cache(_LAYOUTS_KEPT)
def _grouped(columns: tuple[str, ...]) -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Return the names by group, key and counter; the key may be empty."""
    groups: dict[str, dict[str, dict[str, str]]] = {}
    for name in columns:
        group, _, rest = name.partition(".")
        key, _, counter = rest.rpartition(".")
        groups.setdefault(group, {}).setdefault(key, {})[counter] = name
    return groups


def counter_increments(values: Values) -> Values:
    """Return the increments of a counter, or of each row of several; NaN if unknown.

    A counter of 32 bits, such as times in milliseconds, may wrap. It was then in the upper half of
    its range, and its increment is less than half of the range. Any other decrease is a restart,
    because the device was replaced, and the increment is unknown.
    """
    before = values[..., :-1]
    steps: Values = values[..., 1:] - before
    if not (steps < 0).any():
        return steps  # the usual case
    wrapped = steps + _WRAP_32
    fits = (before >= _WRAP_32 / 2) & (before < _WRAP_32) & (wrapped >= 0)
    fits &= wrapped < _WRAP_32 / 2
    backwards = np.where(fits, wrapped, np.nan)
    return np.where(steps < 0, backwards, steps)


def drop_missing(values: Values) -> Values:
    """Return the values without missing ones, for columns that are read less often."""
    return values[np.isfinite(values)]


def sum_known(steps: Values) -> float:
    """Return the sum of the known values; NaN without any."""
    there = drop_missing(steps)
    return float(there.sum()) if len(there) else float("nan")


def total_increment(values: Values) -> float:
    """Return the increment of a counter from its first value to its last; NaN if unknown."""
    return sum_known(counter_increments(drop_missing(values)))


def mean_rate(values: Values, seconds: Values) -> float:
    """Return the mean rate of a counter over the known intervals; NaN without any.

    ``seconds`` are those between the samples.
    """
    steps = counter_increments(values)
    known = np.isfinite(steps)
    return float(steps[known].sum() / seconds[known].sum()) if known.any() else float("nan")


def mean_rates(columns: Mapping[str, Values], seconds: Values) -> dict[str, float]:
    """Return the mean rates of columns that are read together, less often than the rest.

    ``seconds`` are those of each sample since the first. Only samples with all of the columns
    count.
    """
    if not columns:
        return {}
    values = np.stack(list(columns.values()))
    there = np.isfinite(values).all(axis=0)
    steps = counter_increments(values[:, there])
    is_known = np.isfinite(steps)
    lengths = is_known @ np.diff(seconds[there])
    with np.errstate(invalid="ignore"):  # 0 / 0 of one that is never known is NaN
        rates = np.where(is_known, steps, 0).sum(axis=1) / lengths
    return dict(zip(columns, rates.tolist(), strict=True))


def time_weighted_mean(values: Values, seconds: Values) -> float:
    """Return the time-weighted mean of a gauge, each value held until the next; NaN if unknown.

    ``seconds`` are those between the samples, one fewer than ``values``.
    """
    known = np.isfinite(values[:-1]) & (seconds > 0)
    if not known.any():
        return float(values[-1]) if len(values) else float("nan")
    return float(np.average(values[:-1][known], weights=seconds[known]))
