"""Periods of series at uneven times."""

from __future__ import annotations

import numpy as np
import pytest

from iostudy.analysis.series import LEVEL, find_period


def test_the_period_of_a_program_on_a_timer():
    draw = np.random.default_rng(1)
    times = np.cumsum(draw.uniform(0.8, 1.4, 60))
    busy = (times % 7 < 3) + 0.1 * draw.normal(size=60)
    assert find_period(times, busy) == pytest.approx(7, rel=0.05)


def test_noise_has_no_period():
    draw, found, series = np.random.default_rng(2), 0, 30
    for _ in range(series):
        times = np.cumsum(draw.uniform(0.8, 1.4, 40))
        found += find_period(times, draw.exponential(size=40)) is not None
    assert found <= series * LEVEL + 3 * np.sqrt(series * LEVEL)


@pytest.mark.parametrize(
    ("times", "values"),
    [
        (np.arange(5.0), np.arange(5.0)),
        (np.arange(30.0), np.ones(30)),
        (np.zeros(30), np.arange(30.0)),
    ],
    ids=["too few", "constant", "all at once"],
)
def test_without_a_series_there_is_no_period(times, values):
    assert find_period(times, values) is None
