import math

import numpy as np
import pytest

from iostudy.analysis.switchback.allan import compute_allan_deviations, compute_pair_deviation


def test_white_noise_falls_with_the_square_root_of_the_window():
    rates = np.exp(0.05 * np.random.default_rng(1).standard_normal(40_000))
    for found in compute_allan_deviations(rates, 0.01)[:8]:
        expected = 0.05 / math.sqrt(found.seconds / 0.01)
        assert found.deviation == pytest.approx(expected, rel=0.1)


def test_a_random_walk_rises_with_the_window():
    rates = np.exp(np.cumsum(0.002 * np.random.default_rng(2).standard_normal(20_000)))
    found = compute_allan_deviations(rates, 0.01)
    assert found[8].deviation > 1.5 * found[0].deviation


def test_the_deviation_is_relative():
    rates = np.exp(0.05 * np.random.default_rng(3).standard_normal(1000))
    scaled, own = (compute_allan_deviations(factor * rates, 0.1) for factor in (7, 1))
    assert [each.deviation for each in scaled] == pytest.approx([each.deviation for each in own])


def test_a_pair_at_a_distance_has_the_noise_of_both_windows():
    rates = np.exp(0.05 * np.random.default_rng(4).standard_normal(40_000))
    assert compute_pair_deviation(rates, 4, 40) == pytest.approx(0.05 / math.sqrt(2), rel=0.05)


@pytest.mark.parametrize(
    "rates", [np.ones(5), np.array([1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])]
)
def test_a_series_too_short_or_with_an_empty_window_has_no_deviation(rates):
    assert math.isnan(compute_pair_deviation(rates, 1, 5))


def test_window_lengths_leave_four_windows():
    found = compute_allan_deviations(np.arange(1.0, 101.0), 0.5)
    assert found[0].seconds == 0.5
    assert found[-1].seconds == 12.5


def test_no_rates():
    assert compute_allan_deviations(np.array([]), 0.1) == ()
