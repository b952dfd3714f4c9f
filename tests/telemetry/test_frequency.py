"""Mean CPU frequency, weighted by busy time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iostudy.telemetry.figures import compute_machine_figures
from iostudy.telemetry.processors import compute_frequency_figures
from iostudy.telemetry.samples import Samples

NAN = math.nan


def sampled(busy_0, busy_1):
    columns = {
        "frequency.0.khz": [2e6, NAN, 3e6, 3e6],
        "frequency.1.khz": [1e6, NAN, 1e6, 1e6],
        "cpu.0.busy": busy_0,
        "cpu.1.busy": busy_1,
    }
    return Samples(np.arange(4.0), {name: np.array(own) for name, own in columns.items()})


def test_idle_processors_do_not_count():
    found = compute_frequency_figures(sampled([0, 100, 200, 300], [5.0] * 4))
    assert found == {"MHz": pytest.approx(3000)}


def test_each_counts_by_its_busy_time():
    found = compute_frequency_figures(sampled([0, 50, 100, 100], [0, 50, 100, 300]))
    assert found["MHz"] == pytest.approx((100 * 3000 + 300 * 1000) / 400)


def test_all_cores_of_an_idle_machine_count():
    assert compute_frequency_figures(sampled([0.0] * 4, [0.0] * 4))["MHz"] == pytest.approx(2000)


def test_a_machine_without_frequencies_has_no_figure():
    columns = {"cpu.0.busy": np.arange(4.0)}
    assert not compute_frequency_figures(Samples(np.arange(4.0), columns))
    assert "MHz" not in compute_machine_figures(Samples(np.arange(4.0), columns))
