import math
from dataclasses import replace

import numpy as np

from iostudy.analysis.switchback.response import estimate_response
from iostudy.analysis.switchback.window_plan import (
    LONGEST_WASHOUT_SECONDS,
    MIN_WASHOUT_SECONDS,
    TOLERANCES,
    Pilot,
    choose_windows,
    list_unsettled,
)
from tests.analysis.switchback.simulation import BIN_SECONDS, noise, responses

MARGIN, LEVEL = 0.05, 0.01
MIN_OPERATIONS = 20
SECONDS = 3600.0


def pilot(amplitudes, *, seconds=30.0, operation_rate=10_000.0, seed=1):
    draw = np.random.default_rng(seed)
    found = {
        label: estimate_response(
            responses(draw, 12, 3.0, amplitude, constant), BIN_SECONDS, max(constant, 0.02), LEVEL
        )
        for label, (amplitude, constant) in amplitudes.items()
    }
    bins = round(seconds / BIN_SECONDS)
    rates = 1000 * np.exp(noise(draw, bins))
    return Pilot(rates, BIN_SECONDS, operation_rate, found, dict.fromkeys(found, 0.02), 20, 0.0)


FAST = {"none": (0.0, 0.02), "mq-deadline": (-0.1, 0.05)}


def test_levels_that_respond_at_once_get_short_windows():
    plan = choose_windows(pilot(FAST), MARGIN, LEVEL, SECONDS)
    assert plan.window_seconds < 1.0
    assert max(plan.washout_seconds.values()) < 0.5
    assert plan.expected_seconds < 30


def test_a_slow_level_gets_a_long_washout_and_longer_windows():
    fast = choose_windows(pilot(FAST), MARGIN, LEVEL, SECONDS)
    slow = choose_windows(pilot(FAST | {"bfq": (-0.5, 1.0)}), MARGIN, LEVEL, SECONDS)
    assert slow.washout_seconds["bfq"] > 1.5
    assert slow.window_seconds > fast.window_seconds


def test_a_level_that_still_changes_at_the_end_of_its_curve_has_no_windows():
    own = pilot(FAST)
    changing = replace(own.responses["mq-deadline"], late_change=2 * max(TOLERANCES) * MARGIN)
    changed = replace(own, responses={**own.responses, "mq-deadline": changing})
    assert list_unsettled(own, MARGIN) == ()
    assert list_unsettled(changed, MARGIN) == ("mq-deadline",)
    assert choose_windows(changed, MARGIN, LEVEL, SECONDS) is None


def test_few_operations_make_windows_longer():
    plan = choose_windows(pilot(FAST, operation_rate=20.0), MARGIN, LEVEL, SECONDS)
    assert plan.window_seconds >= MIN_OPERATIONS / 20.0


def test_the_expected_rounds_find_the_margin_beyond_the_bias_with_the_stated_power():
    plan = choose_windows(pilot(FAST), MARGIN, LEVEL, SECONDS)
    draw = np.random.default_rng(2)
    needed = plan.needed_rounds
    differences = MARGIN + plan.deviation * draw.standard_normal((4000, needed))
    z = (differences.mean(axis=1) - plan.bias) / (plan.deviation / math.sqrt(needed))
    assert 0.76 < (z > 2.5758).mean() < 0.95


def test_washouts_bound_the_bias_of_every_pair():
    plan = choose_windows(pilot(FAST), MARGIN, LEVEL, SECONDS)
    assert 0 < plan.bias <= 2 * max(TOLERANCES) * MARGIN


def test_a_time_without_room_for_the_first_analysis_has_no_plan():
    assert choose_windows(pilot(FAST), MARGIN, LEVEL, 2.0) is None


def test_noisy_windows_are_averaged_before_the_logarithm():
    """The log of the mean of a block is biased by less than a sixteenth of the margin."""
    found = pilot(FAST)
    loud = replace(found, rates=1000 * np.exp(0.5 * noise(np.random.default_rng(3), 600) / 0.09))
    plan = choose_windows(loud, MARGIN, LEVEL, SECONDS)
    assert plan.deviation**2 / 2 / (2 * plan.averaged_rounds) <= MARGIN / 16


def test_a_level_that_does_not_settle_is_listed():
    found = pilot(FAST | {"odd": (-0.9, 3.0)})
    assert list_unsettled(found, MARGIN) == ("odd",)
    assert LONGEST_WASHOUT_SECONDS > MIN_WASHOUT_SECONDS


def test_no_window_holds_enough_operations():
    assert choose_windows(pilot(FAST, operation_rate=2.0), MARGIN, LEVEL, SECONDS) is None


def test_a_pilot_without_a_series_has_no_plan():
    assert choose_windows(pilot(FAST, seconds=0.2), MARGIN, LEVEL, SECONDS) is None


def test_a_noisier_configuration_gets_more_rounds():
    own = pilot(FAST)
    louder = replace(own, excess_variance=0.2)
    plain, more = (choose_windows(each, MARGIN, LEVEL, SECONDS) for each in (own, louder))
    assert more.deviation > plain.deviation
    assert more.needed_rounds > plain.needed_rounds
    # Its mean over a block has nearly no bias by the logarithm.
    variance = 0.2 * BIN_SECONDS / more.window_seconds
    assert variance / (2 * more.averaged_rounds) <= MARGIN / 16
