import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from iostudy.analysis import unpaired
from iostudy.analysis.paired import UNKNOWN
from iostudy.analysis.verdict import Rule, Verdict

RULE = Rule(margin=0.03, risk=0.05, min_blocks=5, max_blocks=30)
draw = np.random.default_rng(2)
OURS = list(np.exp(0.02 * draw.standard_normal(8)))
THEIRS = list(1.2 * np.exp(0.05 * draw.standard_normal(14)))


def test_the_interval_is_welchs():
    found = unpaired.compare(OURS, THEIRS, higher_is_better=True, rule=RULE)
    welch = stats.ttest_ind(np.log(THEIRS), np.log(OURS), equal_var=False)
    low, high = welch.confidence_interval(1 - RULE.repeated_alpha)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))
    assert found.trials == (8, 14)


def test_the_verdict_is_of_the_second_study():
    better = unpaired.compare(OURS, THEIRS, higher_is_better=True, rule=RULE)
    assert (better.verdict, better.by_margin) == (Verdict.BETTER, True)
    worse = unpaired.compare(OURS, THEIRS, higher_is_better=False, rule=RULE)
    assert worse.verdict is Verdict.WORSE
    assert better.change == pytest.approx(worse.change)
    assert worse.change_interval[0] < worse.change < worse.change_interval[1]


figures = st.lists(st.floats(0.5, 2), min_size=5, max_size=12)


@given(figures, figures)
def test_swapping_the_studies_mirrors_the_interval(one: list[float], other: list[float]):
    there = unpaired.compare(one, other, higher_is_better=True, rule=RULE).interval
    back = unpaired.compare(other, one, higher_is_better=True, rule=RULE).interval.mirrored()
    assert (there.low, there.high) == pytest.approx((back.low, back.high))


@pytest.mark.parametrize("trials", [0, 1])
def test_without_a_spread_nothing_is_known(trials: int):
    found = unpaired.compare(OURS[:trials], THEIRS, higher_is_better=True, rule=RULE)
    assert found.interval == UNKNOWN
    assert found.verdict is Verdict.INCONCLUSIVE
    assert math.isnan(found.estimate) == (trials == 0)


def test_fewer_than_the_fewest_blocks_decide_nothing():
    found = unpaired.compare(OURS[:4], THEIRS, higher_is_better=True, rule=RULE)
    assert found.interval.low > 0
    assert found.verdict is Verdict.INCONCLUSIVE


def test_figures_without_noise_are_equivalent():
    found = unpaired.compare([2.0] * 5, [2.0] * 5, higher_is_better=True, rule=RULE)
    assert found.verdict is Verdict.EQUIVALENT


def test_a_zero_figure_is_named():
    with pytest.raises(ValueError, match=r"second\[1\]"):
        unpaired.compare(OURS, [1.0, 0.0], higher_is_better=True, rule=RULE)


def test_the_stricter_of_two_rules_applies():
    other = Rule(margin=0.01, risk=0.10, min_blocks=3, max_blocks=20, comparisons=9)
    both = unpaired.combine_rules(RULE, other, comparisons=4)
    assert both == Rule(margin=0.01, risk=0.05, min_blocks=3, max_blocks=30, comparisons=4)
    assert both.repeated_alpha < RULE.repeated_alpha


def test_the_noise_that_pairing_removes_is_reported():
    common, own = 0.3 * draw.standard_normal(2000), 0.1 * draw.standard_normal((2, 2000))
    times = unpaired.interval_width_ratio([(common + own[0], common + own[1])])
    # Var x + Var y = 2 (0.09 + 0.01), Var (y - x) = 2 x 0.01.
    assert times == pytest.approx(math.sqrt(10), rel=0.05)
    assert unpaired.interval_width_ratio([(own[0], own[1])]) == pytest.approx(1, rel=0.05)


def test_pairs_without_an_estimate_of_it():
    flat = np.zeros(5)
    assert unpaired.interval_width_ratio([]) is None
    assert unpaired.interval_width_ratio([(flat[:1], flat[:1])]) is None
    assert unpaired.interval_width_ratio([(flat, flat)]) is None


def test_the_biases_of_both_studies_widen_the_interval():
    figures = [1.0, 1.1, 0.9, 1.05, 0.95], [1.2, 1.1, 1.3, 1.25, 1.15]
    biased = unpaired.combine_rules(replace(RULE, bias=0.01), replace(RULE, bias=0.02), 1)
    plain = unpaired.combine_rules(RULE, RULE, 1)
    wide, narrow = (
        unpaired.compare(*figures, higher_is_better=True, rule=rule).interval
        for rule in (biased, plain)
    )
    assert (narrow.low - wide.low, wide.high - narrow.high) == pytest.approx((0.03, 0.03))
