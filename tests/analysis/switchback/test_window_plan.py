import math

import numpy as np
import pytest

from iostudy.analysis.switchback.response import estimate_response
from iostudy.analysis.switchback.window_plan import (
    LONGEST_WASHOUT_SECONDS,
    MIN_OPERATIONS,
    MIN_WASHOUT_SECONDS,
    Pilot,
    choose_windows,
    list_unsettled,
)
from tests.analysis.switchback.simulation import BIN_SECONDS, noise, responses

MARGIN, TOLERANCE, LEVEL = 0.05, 0.025, 0.01


def pilot(amplitudes, *, seconds=30.0, operation_rate=10_000.0, seed=1):
    draw = np.random.default_rng(seed)
    found = {
        label: estimate_response(
            responses(draw, 12, 3.0, amplitude, constant), BIN_SECONDS, max(constant, 0.5)
        )
        for label, (amplitude, constant) in amplitudes.items()
    }
    bins = round(seconds / BIN_SECONDS)
    rates = 1000 * np.exp(noise(draw, bins))
    return Pilot(rates, BIN_SECONDS, operation_rate, found, dict.fromkeys(found, 0.02))


FAST = {"none": (0.0, 0.5), "mq-deadline": (-0.1, 0.05)}


def test_levels_that_respond_at_once_get_short_windows():
    plan = choose_windows(pilot(FAST), MARGIN, TOLERANCE, LEVEL)
    assert plan.window_seconds < 1.0
    assert max(plan.washout_seconds.values()) < 0.5
    assert plan.expected_seconds < 30


def test_a_slow_level_gets_a_long_washout_and_longer_windows():
    fast = choose_windows(pilot(FAST), MARGIN, TOLERANCE, LEVEL)
    slow = choose_windows(pilot(FAST | {"bfq": (-0.5, 1.0)}), MARGIN, TOLERANCE, LEVEL)
    assert slow.washout_seconds["bfq"] > 1.5
    assert slow.window_seconds > fast.window_seconds


def test_few_operations_make_windows_longer():
    plan = choose_windows(pilot(FAST, operation_rate=20.0), MARGIN, TOLERANCE, LEVEL)
    assert plan.window_seconds >= MIN_OPERATIONS / 20.0


def test_the_expected_blocks_find_the_margin_with_the_stated_power():
    plan = choose_windows(pilot(FAST), MARGIN, TOLERANCE, LEVEL)
    draw = np.random.default_rng(2)
    differences = MARGIN + plan.deviation * draw.standard_normal((4000, plan.blocks))
    z = differences.mean(axis=1) / (plan.deviation / math.sqrt(plan.blocks))
    assert (z > 2.5758).mean() == pytest.approx(0.8, abs=0.04)


def test_a_level_that_does_not_settle_is_listed():
    found = pilot(FAST | {"odd": (-0.9, 3.0)})
    assert list_unsettled(found, TOLERANCE) == ("odd",)
    assert LONGEST_WASHOUT_SECONDS > MIN_WASHOUT_SECONDS


def test_a_level_without_a_response_does_not_settle():
    found = pilot(FAST)
    missing = Pilot(
        found.rates, BIN_SECONDS, 1e4, {**found.responses, "x": None}, dict.fromkeys("x", 0.1)
    )
    assert list_unsettled(missing, TOLERANCE) == ("x",)


def test_no_window_holds_enough_operations():
    assert choose_windows(pilot(FAST, operation_rate=2.0), MARGIN, TOLERANCE, LEVEL) is None


def test_a_pilot_without_a_series_has_no_plan():
    assert choose_windows(pilot(FAST, seconds=0.2), MARGIN, TOLERANCE, LEVEL) is None
