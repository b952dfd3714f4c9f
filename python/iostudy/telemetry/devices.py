"""Figures of each device that was sampled, by iostat's names (pure)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from iostudy.telemetry.iostat import device_figures
from iostudy.telemetry.samples import Samples, Values, moved
from iostudy.telemetry.seen import Figures

NUMBER = "number"
"""The column with a device's major and minor number: another one is another device."""
_GAUGES = frozenset({NUMBER, "in_flight"})


def figures_by_device(samples: Samples) -> Mapping[str, Figures]:
    """iostat's figures over the time in which each device was there; one that never was has none.

    A device that goes and comes back, or that another one of its name replaces, is told of the
    intervals at both ends of which it was the same.
    """
    figures = {}
    for device, columns in samples.keyed("disk").items():
        counters = [name for name in columns if name not in _GAUGES]
        # All counters at once: one after the other takes ten times as long when samples are few.
        steps = moved(np.stack([columns[name] for name in counters]))
        known = same_device(columns[NUMBER]) & np.isfinite(steps).all(axis=0)
        if known.any():
            counted = steps[:, known].sum(axis=1).tolist()
            moved_by = dict(zip(counters, counted, strict=True))
            figures[device] = device_figures(moved_by, float(samples.intervals[known].sum()))
    return figures


def same_device(number: Values) -> NDArray[np.bool_]:
    """In which intervals the device was there, and the same at both ends."""
    return np.equal(np.diff(number), 0)
