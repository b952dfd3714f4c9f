"""Figures of CPU temperatures and thermal throttling (pure)."""

from __future__ import annotations

import numpy as np

from iostudy.telemetry.samples import Samples, counter_increments, drop_missing, sum_known
from iostudy.telemetry.summary import Figures

_MILLI = 1000


def compute_temperature_figures(samples: Samples) -> Figures:
    """Compute ``celsius_max`` of all CPUs, and ``throttles`` of cores and packages."""
    figures = {}
    sensors = [sensor["millicelsius"] for sensor in samples.keyed("thermal").values()]
    if sensors:
        figures["celsius_max"] = float(np.nanmax(sensors)) / _MILLI
    events = samples.group("thermal")
    if events:
        figures["throttles"] = sum(
            sum_known(counter_increments(drop_missing(values))) for values in events.values()
        )
    return figures
