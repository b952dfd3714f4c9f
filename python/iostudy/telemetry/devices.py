"""iostat's figures of each sampled device (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from iostudy.telemetry.iostat import COUNTERS, compute_iostat_figures
from iostudy.telemetry.samples import Samples, Values, counter_increments
from iostudy.telemetry.summary import Figures

NUMBER = "number"
"""The column with a device's major and minor number; another number is another device."""
_IDLE = compute_iostat_figures(dict.fromkeys(COUNTERS, 0.0), 1.0)
"""The figures of an idle device, for any duration; most devices are idle."""
_VALUES_AT_ONCE = 1 << 16
"""Values in one computation: few enough for a processor's cache."""


def compute_device_figures(
    samples: Samples, wanted: Collection[str] | None = None
) -> Mapping[str, Figures]:
    """Compute iostat's figures over the time in which each device was present.

    The figures of a device that was absent for a while, or replaced by another of its name, cover
    the intervals with the same device at both ends. ``wanted`` of None means all sampled devices.
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
    """Compute the figures of each device that was present in any interval of ``seconds``."""
    counters = np.concatenate([disk[counter] for disk in disks for counter in COUNTERS])
    steps = counter_increments(counters.reshape(len(disks), len(COUNTERS), -1))
    is_same = find_unchanged_intervals(np.stack([disk[NUMBER] for disk in disks]))
    known = is_same & np.isfinite(steps).all(axis=1)
    counted = np.where(known[:, np.newaxis], steps, 0).sum(axis=2).tolist()
    lengths = (known @ seconds).tolist()
    for name, moved_by, length in zip(names, counted, lengths, strict=True):
        if length and any(moved_by):
            yield name, compute_iostat_figures(dict(zip(COUNTERS, moved_by, strict=True)), length)
        elif length:
            yield name, _IDLE


def find_unchanged_intervals(number: Values) -> NDArray[np.bool_]:
    """Return the intervals in which each device was present, and the same at both ends."""
    return np.equal(np.diff(number), 0)
