"""Curves, knees and crossings compared with simulated truth and manual formulae."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from iostudy.analysis.paired import mean_interval
from iostudy.analysis.ranking import BlockedRuns, rank
from iostudy.analysis.rule import Rule
from iostudy.analysis.scaling import (
    CrossingEstimate,
    CurveEstimate,
    estimate_curves,
    find_crossings,
    find_estimated_crossings,
)

RULE = Rule(margin=0.03, risk=0.05, min_blocks=5, max_blocks=30)
LOADS = (1.0, 2.0, 4.0, 8.0)
Array = NDArray[np.float64]


def drawn(*truth: Sequence[float], rounds: int = 10, noise: float = 0.002, seed: int = 1) -> Array:
    """Levels x rounds x configurations from a curve for each configuration, in logarithms."""
    draw = np.random.default_rng(seed)
    levels = np.array(truth).T
    size = (len(levels), rounds, len(truth))
    own = draw.normal(0, noise, size) + draw.normal(0, 1, (1, rounds, 1))
    return np.asarray(levels[:, None, :] + own)


def only(*truth: float, **options: float) -> CurveEstimate:
    (curve,) = estimate_curves(drawn(truth, **options), RULE)  # type: ignore[arg-type]
    return curve


def crossed(figures: Array, margin: float = 0.03) -> tuple[CrossingEstimate, ...]:
    levels, _, configurations = figures.shape
    rule = replace(RULE, margin=margin, comparisons=(configurations - 1) * levels)
    return find_crossings(
        LOADS, rank([BlockedRuns(own) for own in figures], [1.0] * levels, rule).by_workload
    )


def test_values_and_gains_have_t_intervals_that_share_the_risk():
    figures = drawn((0.0, 0.5, 0.6), (0.0, 0.4, 0.8))
    first, second = estimate_curves(figures, RULE, count=2)
    own = figures[2, :, 1]
    level = replace(RULE, comparisons=3 * 2 * 2).repeated_alpha(RULE.max_blocks)
    found = mean_interval(own, level)
    assert second.values.value[2] == pytest.approx(own.mean())
    assert (second.values.low[2], second.values.high[2]) == pytest.approx((found.low, found.high))
    gained = figures[2, :, 0] - figures[0, :, 0]
    found = mean_interval(gained, level)
    assert first.gains.value[0, 2] == pytest.approx(gained.mean())
    assert (first.gains.low[0, 2], first.gains.high[0, 2]) == pytest.approx((found.low, found.high))
    assert first.gains.low[2, 0] == pytest.approx(-found.high)


def test_effects_of_rounds_cancel_in_gains():
    curve = only(0.0, 0.5, 0.6, 0.6)
    assert curve.gains.value[0] == pytest.approx([0, 0.5, 0.6, 0.6], abs=0.01)
    assert curve.gains.high[0, 1] - curve.gains.low[0, 1] < 0.02
    assert curve.values.high[0] - curve.values.low[0] > 1


def test_two_levels_pair_in_the_rounds_that_both_have():
    figures = drawn((0.0, 0.5))
    figures[0, 7:] = np.nan
    (curve,) = estimate_curves(figures, RULE)
    both = figures[1, :7, 0] - figures[0, :7, 0]
    assert curve.gains.value[0, 1] == pytest.approx(both.mean())
    assert curve.values.value[1] == pytest.approx(figures[1, :, 0].mean())


def test_before_the_first_look_nothing_is_known():
    curve = only(0.0, 0.5, rounds=4)
    assert curve.gains.value[0, 1] == pytest.approx(0.5, abs=0.01)
    assert (curve.values.low == -math.inf).all()
    assert (curve.gains.high == math.inf).all()
    assert np.isfinite(only(0.0, 0.5, rounds=5).values.low).all()
    assert curve.saturates_at == curve.stable_up_to == curve.peak == (0, 1)
    assert not curve.rises


def test_a_level_without_any_trial_is_unknown():
    figures = drawn((0.0, 0.5))
    figures[1] = np.nan
    (curve,) = estimate_curves(figures, RULE)
    assert math.isnan(curve.values.value[1])
    assert curve.saturates_at == (0, 1)


@pytest.mark.parametrize(
    ("truth", "pays", "holds", "peak"),
    [
        ((0.0, 0.5, 0.9, 1.2), (3,), (3,), (3,)),
        ((0.0, 0.5, 0.9, 0.9), (2,), (3,), (2, 3)),
        ((0.0, 0.5, 0.4, 0.3), (1,), (1,), (1,)),
        ((0.0, 0.0, -0.5, -0.9), (0,), (1,), (0, 1)),
        ((0.0, 0.0, 0.0, 0.0), (0,), (3,), (0, 1, 2, 3)),
        ((0.0, -0.5, -0.5, -0.5), (0,), (0,), (0,)),
        # Each step is less than the margin, all together are not.
        ((0.0, 0.02, 0.04, 0.06), (2,), (3,), (2, 3)),
        # A dip on the way does not end what pays.
        ((0.0, -0.2, 0.3, 0.3), (2,), (3,), (2, 3)),
    ],
)
def test_knees_are_where_curves_turn(truth, pays, holds, peak):
    curve = only(*truth, rounds=30, noise=0.001)
    assert (curve.saturates_at, curve.stable_up_to, curve.peak) == (pays, holds, peak)


def test_the_knee_of_a_curve_that_rises_is_where_it_stops_to_pay():
    assert only(0.0, 0.5, 0.5, 0.2).knee == (1,)
    assert only(0.0, 0.0, -0.5, -0.9).knee == (1,)


def test_a_knee_that_is_not_decided_is_a_set():
    curve = only(0.0, 0.5, 0.9, 0.93, noise=0.02)
    assert curve.saturates_at == (2, 3)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=5), st.integers(0, 99))
def test_a_curve_read_backwards_holds_where_it_paid(truth, seed):
    figures = drawn(truth, seed=seed, noise=0.01)
    (forwards,), (backwards,) = estimate_curves(figures, RULE), estimate_curves(figures[::-1], RULE)
    last = len(truth) - 1
    assert forwards.stable_up_to == tuple(last - level for level in backwards.saturates_at)[::-1]


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=5), st.integers(0, 99))
def test_knees_are_never_empty_and_in_order(truth, seed):
    (curve,) = estimate_curves(drawn(truth, seed=seed, noise=0.01), RULE)
    for found in (curve.saturates_at, curve.stable_up_to, curve.peak):
        assert found
        assert list(found) == sorted(found)


def test_curves_cross_between_levels_that_have_verdicts():
    (found,) = crossed(drawn((0.0, 0.5, 1.0, 1.5), (-0.2, 0.4, 1.1, 1.7)))
    assert (found.overtaking, found.overtaken) == (1, 0)
    assert (found.below, found.above) == (1, 2)
    assert found.load == pytest.approx(math.sqrt(8), rel=0.02)
    assert found.interval is not None
    assert found.interval[0] < math.sqrt(8) < found.interval[1]
    assert found.interval[0] > 2
    assert found.interval[1] < 4


def test_swapping_two_configurations_swaps_who_overtakes():
    figures = drawn((0.0, 0.5, 1.0, 1.5), (-0.2, 0.4, 1.1, 1.7))
    (found,), (swapped,) = crossed(figures), crossed(figures[:, :, ::-1])
    assert (swapped.overtaking, swapped.overtaken) == (found.overtaken, found.overtaking)
    assert swapped.load == pytest.approx(found.load)
    assert swapped.interval == pytest.approx(found.interval)


def test_a_level_within_the_margin_widens_the_gap_in_which_curves_cross():
    (found,) = crossed(drawn((0.0, 0.0, 0.0, 0.0), (-0.2, 0.0, 0.0, 0.2)))
    assert (found.below, found.above) == (0, 3)
    assert found.interval is not None
    assert 2 > found.interval[0] > 1
    assert 4 < found.interval[1] < 8


def test_curves_that_touch_or_stay_apart_do_not_cross():
    assert crossed(drawn((0.0, 0.0, 0.0, 0.0), (0.2, 0.0, 0.0, 0.2))) == ()
    assert crossed(drawn((0.0, 0.0, 0.0, 0.0), (0.2, 0.1, 0.3, 0.2))) == ()
    assert find_crossings(LOADS, ()) == ()


def test_curves_that_cross_twice_have_two_crossings():
    first, second = crossed(drawn((0.0, 0.0, 0.0, 0.0), (0.2, -0.2, -0.2, 0.2)))
    assert (first.overtaking, second.overtaking) == (0, 1)
    assert (first.below, second.below) == (0, 2)


def test_an_estimate_against_a_verdict_is_reported_without_an_interval():
    figures = drawn((0.0, 0.0, 0.0, 0.0), (-0.2, -0.2, -0.2, 0.0), noise=0.05, rounds=8)
    figures[3, :, 1] += 0.04 - (figures[3, :, 1] - figures[3, :, 0]).mean()
    (found,) = crossed(figures)
    assert (found.overtaking, found.below, found.above) == (1, 2, 3)
    assert found.interval is None
    assert 4 < found.load < 8


def test_estimates_alone_are_no_crossing():
    figures = drawn((0.0, 0.0, 0.0, 0.0), (-0.02, -0.02, 0.02, 0.02), noise=0.2, rounds=6)
    assert crossed(figures) == ()


def test_published_figures_cross_where_their_lines_do():
    hdfs, lustre = (161103, 298243, 412836, 481841), (174865, 308427, 423087, 470939)
    (found,) = find_estimated_crossings((20, 40, 60, 80), np.log([hdfs, lustre]).T)
    assert (found.overtaking, found.overtaken) == (0, 1)
    assert (found.below, found.above) == (2, 3)
    assert found.interval is None
    ahead = math.log(412836 / 423087), math.log(481841 / 470939)
    share = ahead[0] / (ahead[0] - ahead[1])
    assert found.load == pytest.approx(60 * (80 / 60) ** share)


def test_lines_that_meet_in_a_point_cross_there():
    (found,) = find_estimated_crossings((1, 2, 4), [(0.0, 1.0), (1.0, 1.0), (2.0, 1.5)])
    assert found.load == pytest.approx(2)
    assert (found.below, found.above) == (0, 2)
