"""Timeline of utilization over a trial, downsampled for a chart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from iostudy.telemetry.memory import freerun_ceiling
from iostudy.telemetry.processors import tick_increments
from iostudy.telemetry.samples import Samples, Values, counter_increments


@dataclass(frozen=True)
class TimelineSeries:
    """Utilization of one part over a trial."""

    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True, "extra": "forbid"}

    name: str
    """Name of the resource."""
    of: str
    """Device of the series; empty for the whole host."""
    values: tuple[float | None, ...]
    """Utilization in percent, one for each of the timeline's ``seconds``; null if unknown."""


@dataclass(frozen=True)
class Timeline:
    """Utilization of resources over a trial, in at most 60 intervals."""

    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True, "extra": "forbid"}

    seconds: tuple[float, ...]
    """End of each interval since the start of the recording."""
    series: tuple[TimelineSeries, ...]
    """Utilization by resource."""


TOO_SHORT = "the trial was too short"
"""Return the reason why a trial with readable samples has no timeline."""

MOST_POINTS = 60
_SHORTEST_SECONDS = 0.25
"""Shortest averaging time; the kernel counts CPU time in hundredths of a second."""
_FEWEST = 2
"""Stretches: one alone is a level, and drawn as a line it would look like a course."""
_BUSY = ("user", "nice", "system", "irq", "softirq")
_DIRTY = ("nr_dirty", "nr_writeback", "nr_dirty_threshold", "nr_dirty_background_threshold")
_MS_PER_SECOND = 1000


def list_timeline_columns(devices: Iterable[str]) -> tuple[str, ...]:
    """Return the prefixes of the columns of a timeline."""
    return (*(f"disk.{device}.io_ms" for device in devices), "cpu.", "vm.nr_")


def build_timeline(samples: Samples, devices: Iterable[str]) -> Timeline | None:
    """Shares of time, and of the room for dirty pages, in percent; None of a trial too short.

    A series of which nothing is known is left out. Values are means over stretches of equal length,
    but for dirty pages, which are those at the end of each.
    """
    # The samples at the ends of so many stretches.
    length = float(samples.seconds[-1])
    stretches = max(1, min(MOST_POINTS, int(length / _SHORTEST_SECONDS)))
    ends = np.linspace(0.0, length, stretches + 1)
    places = np.unique(np.searchsorted(samples.seconds, ends).clip(0, len(samples.seconds) - 1))
    kept = {name: values[places] for name, values in samples.columns.items()}
    coarse = Samples(samples.seconds[places], kept)
    if len(coarse.intervals) < _FEWEST:
        return None
    series = [line for line in _series(coarse, devices) if any(v is not None for v in line.values)]
    seconds = tuple(round(float(at), 2) for at in coarse.seconds[1:])
    return Timeline(seconds=seconds, series=tuple(series))


def _series(samples: Samples, devices: Iterable[str]) -> Iterator[TimelineSeries]:
    disks = samples.keyed("disk")
    for device in devices:
        if "io_ms" in disks.get(device, {}):
            share = counter_increments(disks[device]["io_ms"]) / (
                samples.intervals * _MS_PER_SECOND
            )
            yield _series_in_percent("busy", device, np.minimum(share, 1.0))
    cpu = samples.group("cpu")
    if set(_BUSY) <= cpu.keys():
        yield _series_in_percent("CPUs", "", _share(cpu, _BUSY))
    cores = [_share(core, ("busy",)) for core in samples.keyed("cpu").values()]
    if cores:
        yield _series_in_percent("busiest core", "", np.fmax.reduce(cores))
    vm = samples.group("vm")
    if set(_DIRTY) <= vm.keys():
        # Pages that are dirty or being written, as a share of those at which writers are paused.
        dirty, writeback, limit, background = (vm[name][1:] for name in _DIRTY)
        ceiling = np.maximum(freerun_ceiling(limit, background), 1.0)
        yield _series_in_percent("dirty pages", "", (dirty + writeback) / ceiling)


def _share(ticks: Mapping[str, Values], of: tuple[str, ...]) -> Values:
    """Return the share of all ticks in each interval; NaN without ticks."""
    steps = {name: tick_increments(values) for name, values in ticks.items()}
    every: Values = np.sum(list(steps.values()), axis=0)
    counted: Values = np.sum([steps[name] for name in of], axis=0)
    return np.where(every > 0, counted / np.maximum(every, 1.0), np.nan)


def _series_in_percent(name: str, of: str, shares: Values) -> TimelineSeries:
    percents = (None if np.isnan(share) else round(100 * float(share), 1) for share in shares)
    return TimelineSeries(name=name, of=of, values=tuple(percents))
