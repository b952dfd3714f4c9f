import math

import numpy as np
import pytest

from iostudy.analysis.switchback.response import LEVEL, estimate_response
from tests.analysis.switchback.simulation import BIN_SECONDS, responses, window_bias

SLOWEST, WINDOW, TOLERANCE = 5.0, 0.2, 0.015
CURVES, SECONDS = 8, 6.0


@pytest.mark.parametrize("constant", [0.2, 0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("amplitude", [-0.5, -0.25, -0.1, 0.25])
def test_the_washout_covers_a_slow_response(constant, amplitude):
    draw, studies, missed = np.random.default_rng(7), 200, 0
    for _ in range(studies):
        rates = responses(draw, CURVES, SECONDS, amplitude, constant)
        washout = estimate_response(rates, BIN_SECONDS, SLOWEST).washout(WINDOW, TOLERANCE)
        missed += abs(window_bias(washout, WINDOW, amplitude, constant)) > TOLERANCE
    assert missed / studies <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / studies)


def test_more_curves_shorten_the_washout_of_a_level_at_once():
    draw = np.random.default_rng(8)
    few, many = (
        np.median(
            [
                estimate_response(responses(draw, n, 3.0, 0.0, 1.0), BIN_SECONDS, 2.0).washout(
                    WINDOW, TOLERANCE
                )
                for _ in range(40)
            ]
        )
        for n in (4, 32)
    )
    assert many < few / 2


def test_a_quiet_level_at_once_needs_no_washout():
    rates = 1000 + np.arange(4)[:, None] * np.ones(60)
    assert estimate_response(rates, BIN_SECONDS, 2.0).washout(WINDOW, TOLERANCE) == BIN_SECONDS


def test_the_washout_of_a_known_response():
    times = (np.arange(60) + 0.5) * BIN_SECONDS
    rates = np.tile(np.exp(-0.3 * np.exp(-times / 0.5)), (3, 1))
    found = estimate_response(rates, BIN_SECONDS, 0.5 / 1.25)
    # The bin means of the response replace its values at the centres: 0.04 % of the amplitude.
    bias = 0.3 * 0.5 / WINDOW * -math.expm1(-WINDOW / 0.5)
    assert found.washout(WINDOW, TOLERANCE) == pytest.approx(
        0.5 * math.log(bias / TOLERANCE) + BIN_SECONDS, rel=0.01
    )


def test_the_curve_is_relative_to_its_end():
    found = estimate_response(
        responses(np.random.default_rng(9), 20, 3.0, -0.4, 0.3), BIN_SECONDS, 2.0
    )
    assert found.curve[0] < -0.3
    assert abs(found.curve[-20:].mean()) < 0.01
    assert (found.low < found.curve).all() and (found.curve < found.high).all()


@pytest.mark.parametrize("rates", [np.ones((2, 60)), np.ones((5, 2)), np.zeros((5, 60))])
def test_no_response_without_an_interval(rates):
    assert estimate_response(rates, BIN_SECONDS, 2.0) is None
