"""Samples as columns, and how far each counter moved between them (pure).

Columns are called ``group.counter`` or ``group.key.counter``; a key may hold dots itself
(``disk.cciss/c0d0.reads``). docs/telemetry.md lists them all. Counters are those of the kernel,
unchanged: what follows from them is this module's and its callers' to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars

    from iostudy import _native

Values = NDArray[np.float64]
"""A value for each sample, or for each interval between two; NaN where it was missing."""

_WRAP_32 = 2.0**32
_NANOSECONDS = 1e9
_MICROSECONDS = 1e6
SECONDS = "seconds"
_LAYOUTS_KEPT = 8
"""Whoever looks every second meets the same columns again, but for those that are read seldom."""


@dataclass(frozen=True)
class Process:
    """What a process did over the samples, with children of its that were too short to be seen.

    Bytes are those that it caused to be read from storage, or to be written there sooner or later.
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
    processes: tuple[Process, ...] = ()

    @classmethod
    def of(cls, native: _native.Samples) -> Samples:
        """The sampler's own: exact up to 2**53. A column that was never there is left out."""
        at = np.frombuffer(native.timestamps(), np.uint64)
        names = native.names
        values = np.frombuffer(native.values(), np.float64).reshape(len(names), len(at))
        places = np.flatnonzero(np.isfinite(values).any(axis=1)).tolist()
        columns = {names[place]: values[place] for place in places}
        processes = tuple(
            Process(pid, name, of_workload, cpu_us / _MICROSECONDS, read, written)
            for pid, name, of_workload, cpu_us, read, written in native.processes()
        )
        return cls((at - at[0]) / _NANOSECONDS, columns, processes)

    @classmethod
    def read(cls, table: polars.DataFrame) -> Samples:
        """What ``table`` has made, from the file that it was written to."""
        columns = {
            name: table[name].cast(float).fill_null(np.nan).to_numpy() for name in table.columns
        }
        return cls(columns.pop(SECONDS), columns)

    def table(self) -> polars.DataFrame:
        """A row a sample, for a Parquet file; what was missing is null."""
        import polars  # not at the top: most commands never need it, and it is slow to load

        columns = {name: _whole_numbers(values) for name, values in self.columns.items()}
        return polars.DataFrame({SECONDS: polars.Series(self.seconds), **columns})

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
        """The columns of each key of ``group``, by their counters; none if it was not sampled."""
        return {key: own for key, own in self._groups.get(group, {}).items() if key}

    def group(self, group: str) -> Mapping[str, Values]:
        """The columns of ``group`` that have no key, by their counters."""
        return self._groups.get(group, {}).get("", {})

    @cached_property
    def intervals(self) -> Values:
        """Seconds between each sample and the next."""
        return np.diff(self.seconds)


@lru_cache(_LAYOUTS_KEPT)
def _grouped(columns: tuple[str, ...]) -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """The names by group, key and counter; the key is empty where there is none."""
    groups: dict[str, dict[str, dict[str, str]]] = {}
    for name in columns:
        group, _, rest = name.partition(".")
        key, _, counter = rest.rpartition(".")
        groups.setdefault(group, {}).setdefault(key, {})[counter] = name
    return groups


def moved(values: Values) -> Values:
    """How far a counter, or each row of several, moved in each interval; NaN where not known.

    A counter that the kernel keeps in 32 bits, as times in milliseconds, may wrap: it was in the
    upper half of its range then, and moved by less than half of it. One that goes back in any
    other way began anew - its device was replaced - and has not moved by a known amount.
    """
    before = values[..., :-1]
    steps: Values = values[..., 1:] - before
    if not (steps < 0).any():
        return steps  # as nearly always
    wrapped = steps + _WRAP_32
    fits = (before >= _WRAP_32 / 2) & (before < _WRAP_32) & (wrapped >= 0)
    fits &= wrapped < _WRAP_32 / 2
    backwards = np.where(fits, wrapped, np.nan)
    return np.where(steps < 0, backwards, steps)


def known(values: Values) -> Values:
    """Those that are there: of what is read less often than the rest, what has been read."""
    return values[np.isfinite(values)]


def total(steps: Values) -> float:
    """The sum of what is known; NaN if nothing is."""
    there = known(steps)
    return float(there.sum()) if len(there) else float("nan")


def rate(values: Values, seconds: Values) -> float:
    """How far a counter moved in a second, over the intervals in which it is known; NaN if never.

    ``seconds`` are those between the samples.
    """
    steps = moved(values)
    known = np.isfinite(steps)
    return float(steps[known].sum() / seconds[known].sum()) if known.any() else float("nan")


def rates_of_known(columns: Mapping[str, Values], seconds: Values) -> dict[str, float]:
    """The same of columns that are read together, less often than the rest, by their names.

    ``seconds`` are those of each sample since the first; what counts is the time between those in
    which all of the columns were read.
    """
    if not columns:
        return {}
    values = np.stack(list(columns.values()))
    there = np.isfinite(values).all(axis=0)
    steps = moved(values[:, there])
    is_known = np.isfinite(steps)
    lengths = is_known @ np.diff(seconds[there])
    with np.errstate(invalid="ignore"):  # 0 / 0 of one that is never known is NaN
        rates = np.where(is_known, steps, 0).sum(axis=1) / lengths
    return dict(zip(columns, rates.tolist(), strict=True))


def held(values: Values, seconds: Values) -> float:
    """The mean of a gauge over time, each value held until the next one; NaN if never known.

    ``seconds`` are those between the samples, one fewer than ``values``.
    """
    known = np.isfinite(values[:-1]) & (seconds > 0)
    if not known.any():
        return float(values[-1]) if len(values) else float("nan")
    return float(np.average(values[:-1][known], weights=seconds[known]))


def _whole_numbers(values: Values) -> polars.Series:
    import polars

    counted = np.nan_to_num(values).astype(np.uint64)
    return polars.Series(counted).set(polars.Series(np.isnan(values)), None)
