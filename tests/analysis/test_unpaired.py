import math
from dataclasses import replace

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from iostudy.analysis import unpaired
from iostudy.analysis.distributions import Array
from iostudy.analysis.paired import UNKNOWN, PairedRuns
from iostudy.analysis.rule import Rule
from iostudy.analysis.unpaired import EffectComparison, difference_interval
from iostudy.analysis.verdict import Verdict

RULE = Rule(margin=0.03, risk=0.05, min_blocks=5, max_blocks=30)
draw = np.random.default_rng(2)
OURS = 0.02 * draw.standard_normal(8)
THEIRS = 0.2 + 0.05 * draw.standard_normal(14)


def compare(
    first: Array, second: Array, *, higher_is_better: bool = True, rule: Rule = RULE
) -> EffectComparison:
    """Compare effects whose baselines measured 1 in every block."""
    runs = (PairedRuns(np.zeros(len(own)), own) for own in (first, second))
    return unpaired.compare_effects(*runs, higher_is_better=higher_is_better, rule=rule)


def test_the_interval_is_welchs():
    found = compare(OURS, THEIRS)
    welch = scipy.stats.ttest_ind(THEIRS, OURS, equal_var=False)
    low, high = welch.confidence_interval(1 - RULE.repeated_alpha(RULE.max_blocks))
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))
    assert found.effects == pytest.approx((OURS.mean(), THEIRS.mean()))
    assert found.blocks == (8, 14)


def test_the_verdict_is_of_the_second_study():
    better = compare(OURS, THEIRS)
    assert (better.verdict, better.by_margin) == (Verdict.BETTER, True)
    assert better.change == pytest.approx(math.exp(better.estimate) - 1)
    # Differences are positive where better, so that lower figures are those of a lower change.
    lower = compare(OURS, THEIRS, higher_is_better=False)
    assert lower.verdict is Verdict.BETTER
    assert lower.change == pytest.approx(math.exp(-better.estimate) - 1)
    assert compare(THEIRS, OURS).verdict is Verdict.WORSE


@pytest.mark.parametrize(
    ("estimate", "verdict"),
    [
        (0.0, Verdict.EQUIVALENT),
        (0.02, Verdict.NOT_WORSE),
        (-0.02, Verdict.NOT_BETTER),
        (0.08, Verdict.BETTER),
    ],
)
def test_each_verdict(estimate: float, verdict: Verdict):
    noise = np.tile([-0.03, 0.03], 10)
    found = compare(noise, noise + estimate)
    assert found.verdict is verdict, found.interval


values = st.lists(st.floats(-1, 1), min_size=5, max_size=12).map(np.array)


@given(values, values)
def test_swapping_the_studies_mirrors_the_interval(one: Array, other: Array):
    there = difference_interval(one, other, RULE)
    back = difference_interval(other, one, RULE).mirrored()
    assert (there.low, there.high) == pytest.approx((back.low, back.high))


@pytest.mark.parametrize("blocks", [0, 1])
def test_without_a_spread_nothing_is_known(blocks: int):
    found = compare(OURS[:blocks], THEIRS)
    assert found.interval == UNKNOWN
    assert found.verdict is Verdict.INCONCLUSIVE
    assert math.isnan(found.estimate) == (blocks == 0)


def test_a_failed_run_leaves_no_interval():
    found = compare(OURS, np.append(THEIRS, -np.inf))
    assert found.interval == UNKNOWN
    assert math.isnan(found.estimate)
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("gain", "verdict"), [(0.015, Verdict.NOT_WORSE), (0.1, Verdict.BETTER)])
def test_the_fewest_blocks_decide_and_fewer_do_not(gain: float, verdict: Verdict):
    noise = np.array([-0.01, 0.01, -0.01, 0.01, 0.0])
    assert compare(noise, noise + gain).verdict is verdict
    assert compare(noise[:4], noise + gain).verdict is Verdict.INCONCLUSIVE


def test_differences_without_noise_are_equivalent():
    assert compare(np.zeros(5), np.zeros(5)).verdict is Verdict.EQUIVALENT


@pytest.mark.parametrize("seconds", [1, 2])
def test_both_orders_are_needed_twice_in_both_studies(seconds: int):
    balanced = PairedRuns(np.zeros(8), OURS, np.arange(8) < 4)
    other = PairedRuns(np.zeros(14), THEIRS, np.arange(14) < seconds)
    shifted = PairedRuns(np.zeros(8), OURS - 0.2, np.arange(8) < seconds)
    for pair in ((balanced, other), (shifted, balanced)):
        found = unpaired.compare_effects(*pair, higher_is_better=True, rule=RULE)
        assert (found.verdict is Verdict.BETTER) == (seconds == 2), found.verdict


def test_the_stricter_of_two_rules_applies():
    other = Rule(margin=0.01, risk=0.10, min_blocks=3, max_blocks=20, comparisons=9)
    both = unpaired.combine_rules(RULE, other, comparisons=4)
    assert both == Rule(margin=0.01, risk=0.05, min_blocks=3, max_blocks=30, comparisons=4)
    assert both.repeated_alpha(30) < RULE.repeated_alpha(30)


def test_the_biases_of_both_studies_widen_the_interval():
    biased = unpaired.combine_rules(replace(RULE, bias=0.01), replace(RULE, bias=0.02), 1)
    plain = unpaired.combine_rules(RULE, RULE, 1)
    wide, narrow = (difference_interval(OURS, THEIRS, rule) for rule in (biased, plain))
    assert (narrow.low - wide.low, wide.high - narrow.high) == pytest.approx((0.03, 0.03))


def test_equal_values_of_too_few_runs_have_no_interval():
    once = Rule(margin=0.03, risk=0.05, min_blocks=2, max_blocks=2)
    assert difference_interval(np.zeros(2), np.ones(2), once) == UNKNOWN
    five = difference_interval(np.zeros(5), np.ones(5), replace(once, max_blocks=5, min_blocks=5))
    assert (five.low, five.high) == (1.0, 1.0)
