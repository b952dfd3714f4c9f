import math

import numpy as np
import pytest

from iostudy.analysis.switchback.response import LARGEST_AMPLITUDE, estimate_response
from tests.analysis.switchback.simulation import BIN_SECONDS, responses, window_bias

SLOWEST, WINDOW, TOLERANCE = 5.0, 0.2, 0.015
CURVES, SECONDS = 8, 6.0
LEVEL = 0.05


@pytest.mark.campaign
@pytest.mark.parametrize("constant", [0.2, 0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("amplitude", [-0.5, -0.25, -0.1, 0.25])
def test_the_washout_covers_a_slow_response(constant, amplitude):
    draw, studies, missed = np.random.default_rng(7), 200, 0
    for _ in range(studies):
        rates = responses(draw, CURVES, SECONDS, amplitude, constant)
        washout = estimate_response(rates, BIN_SECONDS, SLOWEST, LEVEL).washout(WINDOW, TOLERANCE)
        missed += abs(window_bias(washout, WINDOW, amplitude, constant)) > TOLERANCE
    assert missed / studies <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / studies)


def test_more_curves_shorten_the_washout_of_a_level_at_once():
    draw = np.random.default_rng(8)
    few, many = (
        np.median(
            [
                estimate_response(
                    responses(draw, n, 3.0, 0.0, 1.0), BIN_SECONDS, 2.0, LEVEL
                ).washout(WINDOW, TOLERANCE)
                for _ in range(40)
            ]
        )
        for n in (4, 32)
    )
    assert many < few / 2


def test_a_quiet_level_at_once_needs_no_washout():
    rates = 1000 + np.arange(4)[:, None] * np.ones(60)
    assert (
        estimate_response(rates, BIN_SECONDS, 2.0, LEVEL).washout(WINDOW, TOLERANCE) == BIN_SECONDS
    )


def test_the_washout_of_a_known_response():
    times = (np.arange(60) + 0.5) * BIN_SECONDS
    rates = np.tile(np.exp(-0.3 * np.exp(-times / 0.5)), (3, 1))
    found = estimate_response(rates, BIN_SECONDS, 0.5 / 1.25, LEVEL)
    # The bin means of the response replace its values at the centres: 0.04 % of the amplitude.
    bias = 0.3 * 0.5 / WINDOW * -math.expm1(-WINDOW / 0.5)
    assert found.washout(WINDOW, TOLERANCE) == pytest.approx(
        0.5 * math.log(bias / TOLERANCE) + BIN_SECONDS, rel=0.01
    )


def test_the_curve_is_relative_to_its_end():
    found = estimate_response(
        responses(np.random.default_rng(9), 20, 3.0, -0.4, 0.3), BIN_SECONDS, 2.0, LEVEL
    )
    assert found.curve[0] < -0.3
    assert abs(found.curve[-20:].mean()) < 0.01
    assert (found.low < found.curve).all() and (found.curve < found.high).all()


@pytest.mark.parametrize("rates", [np.ones((2, 60)), np.ones((5, 2)), np.zeros((5, 60))])
def test_without_an_interval_the_largest_amplitude_remains(rates):
    found = estimate_response(rates, BIN_SECONDS, 2.0, LEVEL)
    assert (found.bounds == LARGEST_AMPLITUDE).all()
    assert found.slowest_seconds == pytest.approx(1.25 * 2.0)
    assert not found.curve.size


def test_bins_are_merged_until_each_has_an_operation():
    rates = np.ones((5, 60))
    rates[0, 7] = 0.0
    assert estimate_response(rates, BIN_SECONDS, 2.0, LEVEL).bin_seconds == 2 * BIN_SECONDS


def test_the_bias_after_the_washout_is_the_tolerance():
    found = estimate_response(
        responses(np.random.default_rng(10), 8, 3.0, -0.4, 0.3), BIN_SECONDS, 2.0, LEVEL
    )
    washout = found.washout(WINDOW, TOLERANCE)
    assert found.bias(WINDOW, washout) == pytest.approx(TOLERANCE)
    assert found.bias(WINDOW, washout / 2) > TOLERANCE


def test_a_smaller_level_has_larger_bounds():
    rates = responses(np.random.default_rng(11), 8, 3.0, -0.1, 0.3)
    small, large = (
        estimate_response(rates, BIN_SECONDS, 2.0, level).bounds for level in (0.001, 0.05)
    )
    assert (small > large).all()


@pytest.mark.parametrize(("constant", "is_slower"), [(0.3, False), (1.0, False), (20.0, True)])
def test_a_response_slower_than_every_constant_is_noticed(constant, is_slower):
    times = (np.arange(60) + 0.5) * BIN_SECONDS
    quiet = 0.01 * np.random.default_rng(12).standard_normal((8, 60))
    rates = np.exp(-1.5 * np.exp(-times / constant) + quiet)
    found = estimate_response(rates, BIN_SECONDS, 1.0, LEVEL)
    assert (found.late_change > 0.01) is is_slower
