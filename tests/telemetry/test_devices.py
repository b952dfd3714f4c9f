"""Devices that disappear, return or are replaced during a recording."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iostudy.telemetry import iostat
from iostudy.telemetry.iostat import compute_device_figures
from iostudy.telemetry.samples import Samples
from tests.telemetry.test_iostat import COUNTERS

NAN = math.nan


def recorded(reads, number=(8.0, 8.0, 8.0, 8.0)):
    columns = {f"disk.sda.{name}": np.zeros(4) for name in COUNTERS}
    for values in columns.values():
        values[np.isnan(reads)] = NAN
    columns |= {"disk.sda.reads": np.array(reads), "disk.sda.number": np.array(number)}
    return compute_device_figures(Samples(np.array([0.0, 1.0, 2.0, 4.0]), columns))


def test_rates_are_over_the_whole_recording():
    assert recorded([0, 10, 20, 40])["sda"]["r/s"] == pytest.approx(10)


def test_the_time_in_which_it_was_gone_does_not_count():
    assert recorded([NAN, 10, 20, 40])["sda"]["r/s"] == pytest.approx(10)
    assert recorded([0, 10, NAN, 40])["sda"]["r/s"] == pytest.approx(10)


def test_counts_of_a_replaced_device_are_not_mixed():
    begun_anew = recorded([500, 510, 3, 43])
    assert begun_anew["sda"]["r/s"] == pytest.approx(50 / 3)
    another = recorded([500, 510, 900, 940], (8.0, 8.0, 9.0, 9.0))
    assert another["sda"]["r/s"] == pytest.approx(50 / 3)


def test_device_with_one_sample_has_no_figures():
    assert recorded([NAN, 10, NAN, NAN]) == {}


def several(count: int) -> Samples:
    """Each device reads as much more in each second as its number says."""
    columns = {}
    for index in range(count):
        columns |= {f"disk.sd{index}.{name}": np.zeros(3) for name in COUNTERS}
        columns[f"disk.sd{index}.reads"] = np.arange(3.0) * index
        columns[f"disk.sd{index}.number"] = np.full(3, float(index))
    return Samples(np.arange(3.0), columns)


@pytest.mark.parametrize("at_once", [1, 150, 1 << 16])
def test_devices_have_their_own_figures_however_many_are_worked_out_together(monkeypatch, at_once):
    monkeypatch.setattr(iostat, "_VALUES_AT_ONCE", at_once)
    device_figures = compute_device_figures(several(7))
    assert [figures["r/s"] for figures in device_figures.values()] == pytest.approx(range(7))
    assert list(device_figures) == [f"sd{index}" for index in range(7)]


def test_unrequested_devices_are_omitted():
    assert set(compute_device_figures(several(5), {"sd3", "sd1", "gone"})) == {"sd1", "sd3"}
    assert compute_device_figures(several(5), ()) == {}
