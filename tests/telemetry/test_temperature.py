"""Temperatures and throttling."""

from __future__ import annotations

import numpy as np

from iostudy.telemetry.processors import compute_temperature_figures
from iostudy.telemetry.samples import Samples

NAN = float("nan")


def figures(**columns):
    named = {f"thermal.{name}": np.array(values, float) for name, values in columns.items()}
    return compute_temperature_figures(Samples(np.array([0.0, 1.0, 2.0]), named))


def test_the_hottest_zone_counts_and_all_events():
    zones = {"a.millicelsius": [50e3, NAN, 71e3], "b.millicelsius": [NAN, 40e3, NAN]}
    assert figures(**zones) == {"celsius_max": 71}
    assert figures(core_throttles=[1, NAN, 4], package_throttles=[0, 1, 2]) == {"throttles": 5}
    assert figures() == {}
