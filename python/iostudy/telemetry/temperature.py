"""Temperatures of CPUs, and processors that were slowed because of them (pure)."""

from __future__ import annotations

import numpy as np

from iostudy.telemetry.samples import Samples, known, moved, total
from iostudy.telemetry.summary import Figures

_MILLI = 1000


def heat_figures(samples: Samples) -> Figures:
    """``celsius_max`` of all CPUs, and ``throttles``: events of cores and of whole packages."""
    figures = {}
    sensors = [sensor["millicelsius"] for sensor in samples.keyed("thermal").values()]
    if sensors:
        figures["celsius_max"] = float(np.nanmax(sensors)) / _MILLI
    events = samples.group("thermal")
    if events:
        figures["throttles"] = sum(total(moved(known(values))) for values in events.values())
    return figures
