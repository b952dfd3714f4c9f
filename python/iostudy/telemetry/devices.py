"""Figures of each device that was sampled, by iostat's names (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from iostudy.telemetry.iostat import COUNTERS, device_figures
from iostudy.telemetry.samples import Samples, Values, moved
from iostudy.telemetry.summary import Figures

NUMBER = "number"
"""The column with a device's major and minor number: another one is another device."""
_IDLE = device_figures(dict.fromkeys(COUNTERS, 0.0), 1.0)
"""Of a device that did nothing, as most do most of the time, however long it was."""
_VALUES_AT_ONCE = 1 << 16
"""So many are worked out together: few enough to stay in a processor's cache."""


def figures_by_device(
    samples: Samples, wanted: Collection[str] | None = None
) -> Mapping[str, Figures]:
    """iostat's figures over the time in which each device was there; one that never was has none.

    A device that goes and comes back, or that another one of its name replaces, is told of the
    intervals at both ends of which it was the same. None ``wanted`` are all that were sampled.
    """
    disks = samples.keyed("disk")
    names = [name for name in disks if wanted is None or name in wanted]
    # Many devices at once: one after the other takes ten times as long when samples are few.
    length = max(1, _VALUES_AT_ONCE // (len(COUNTERS) * len(samples.seconds)))
    groups = (names[begin : begin + length] for begin in range(0, len(names), length))
    return {
        name: figures
        for group in groups
        for name, figures in _figures(group, [disks[name] for name in group], samples.intervals)
    }


def _figures(
    names: Sequence[str], disks: Sequence[Mapping[str, Values]], seconds: Values
) -> Iterator[tuple[str, Figures]]:
    """Of each device that was there in any of the intervals, which took so many seconds."""
    counters = np.concatenate([disk[counter] for disk in disks for counter in COUNTERS])
    steps = moved(counters.reshape(len(disks), len(COUNTERS), -1))
    is_same = same_device(np.stack([disk[NUMBER] for disk in disks]))
    known = is_same & np.isfinite(steps).all(axis=1)
    counted = np.where(known[:, np.newaxis], steps, 0).sum(axis=2).tolist()
    lengths = (known @ seconds).tolist()
    for name, moved_by, length in zip(names, counted, lengths, strict=True):
        if length and any(moved_by):
            yield name, device_figures(dict(zip(COUNTERS, moved_by, strict=True)), length)
        elif length:
            yield name, _IDLE


def same_device(number: Values) -> NDArray[np.bool_]:
    """In which intervals each device was there, and the same at both ends."""
    return np.equal(np.diff(number), 0)
