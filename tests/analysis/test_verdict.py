import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.analysis.paired import UNKNOWN
from iostudy.analysis.sequential import repeated_alpha
from iostudy.analysis.verdict import Comparison, Rule, Verdict, classify_intervals, compare

RULE = Rule(margin=0.03, risk=0.05, min_blocks=5, max_blocks=30)
SWAPPED = {
    Verdict.BETTER: Verdict.WORSE,
    Verdict.WORSE: Verdict.BETTER,
    Verdict.EQUIVALENT: Verdict.EQUIVALENT,
    Verdict.INCONCLUSIVE: Verdict.INCONCLUSIVE,
}

figures = st.floats(50, 150)
pairs = st.lists(st.tuples(figures, figures), max_size=15)


def of_ratios(ratios: list[float], rule: Rule = RULE) -> Comparison:
    """A comparison whose log-ratios are these."""
    return compare(
        [100.0] * len(ratios),
        [100.0 * math.exp(ratio) for ratio in ratios],
        higher_is_better=True,
        rule=rule,
    )


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.02, 0.02, Verdict.EQUIVALENT),
        (0.01, 0.02, Verdict.EQUIVALENT),
        (-0.02, -0.01, Verdict.EQUIVALENT),
        (0.01, 0.04, Verdict.BETTER),
        (-0.04, -0.01, Verdict.WORSE),
        (-0.01, 0.04, Verdict.INCONCLUSIVE),
        (-0.04, 0.04, Verdict.INCONCLUSIVE),
        (0.0, 0.04, Verdict.INCONCLUSIVE),
        (-math.inf, math.inf, Verdict.INCONCLUSIVE),
    ],
)
def test_the_reading_order(low: float, high: float, verdict: Verdict):
    assert classify_intervals(low, high, 5, RULE) == verdict
    assert classify_intervals(low, high, 4, RULE) == Verdict.INCONCLUSIVE


def test_many_intervals_are_read_at_once():
    words = classify_intervals([-0.01, 0.01, 0.01], [0.01, 0.05, 0.05], [9, 9, 4], RULE)
    assert list(words) == ["equivalent", "better", "inconclusive"]


def test_the_margin_itself_is_not_equivalent():
    assert classify_intervals(-RULE.delta, 0.0, 5, RULE) == Verdict.INCONCLUSIVE
    assert classify_intervals(0.0, RULE.delta, 5, RULE) == Verdict.INCONCLUSIVE


@pytest.mark.parametrize("blocks", [0, 1])
def test_too_little_for_an_interval(blocks: int):
    comparison = of_ratios([0.1] * blocks)
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert comparison.interval == UNKNOWN == comparison.robust_interval
    assert comparison.blocks_needed is None
    assert math.isnan(comparison.sd)
    assert math.isnan(comparison.estimate) == (blocks == 0)
    assert comparison.change_interval == (-1.0, math.inf)


def test_a_clear_gain_and_loss():
    better = of_ratios([0.10, 0.11, 0.09, 0.10, 0.10])
    assert (better.verdict, better.by_margin, better.blocks_needed) == (Verdict.BETTER, True, None)
    worse = of_ratios([-0.10, -0.11, -0.09, -0.10, -0.10])
    assert (worse.verdict, worse.by_margin, worse.blocks_needed) == (Verdict.WORSE, True, None)


def test_better_or_worse_but_perhaps_by_less_than_the_margin():
    ratios = [0.03, 0.05, 0.04, 0.02, 0.04, 0.03]
    better = of_ratios(ratios)
    assert (better.verdict, better.by_margin) == (Verdict.BETTER, False)
    worse = of_ratios([-ratio for ratio in ratios])
    assert (worse.verdict, worse.by_margin) == (Verdict.WORSE, False)


def test_equal_ratios_decide_at_the_first_look():
    assert of_ratios([0.0] * 5).verdict is Verdict.EQUIVALENT
    assert of_ratios([0.1] * 5).verdict is Verdict.BETTER
    assert of_ratios([0.1] * 4).verdict is Verdict.INCONCLUSIVE


def test_blocks_needed_are_those_of_the_normal_formula_and_a_few_more():
    ratios = [0.1, -0.1, 0.05, -0.08, 0.02, 0.03]
    comparison = of_ratios(ratios)
    # z(1 - .0076757/2) = 2.6665 and z(.8) = 0.8416, from tables of the normal distribution.
    normal = ((2.6665 + 0.8416) * np.std(ratios, ddof=1) / math.log(1.03)) ** 2
    # Guenther 1981: a t test needs about z(1 - a/2)^2 / 2 more than the normal formula says.
    assert comparison.blocks_needed == pytest.approx(normal + 2.6665**2 / 2, abs=1.5)


def test_blocks_needed_are_never_fewer_than_one_more_or_the_least():
    assert of_ratios([0.100, 0.1001]).blocks_needed == RULE.min_blocks
    near_zero = [0.02, -0.006, 0.03, 0.022, 0.015, 0.002, 0.042, 0.018, -0.004]
    comparison = of_ratios(near_zero)
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert comparison.blocks_needed == len(near_zero) + 1


def test_one_wild_block_makes_a_verdict_fragile():
    calm = [0.1, 0.11, 0.09, 0.1, 0.12, 0.1, 0.08, 0.1, 0.11, 0.1] * 2
    comparison = of_ratios([*calm, -1.0])
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert comparison.fragile
    assert comparison.robust_estimate == pytest.approx(0.1, abs=0.01)
    assert not of_ratios(calm).fragile


def test_fragile_is_not_claimed_where_the_second_interval_cannot_exist():
    comparison = of_ratios([0.10, 0.11, 0.09, 0.10, 0.10])
    assert comparison.robust_interval == UNKNOWN
    assert not comparison.fragile


def test_the_change_is_that_of_the_figure_itself():
    seconds = [10.0, 10.1, 9.9, 10.0, 10.0]
    slower = compare(seconds, [1.2 * s for s in seconds], higher_is_better=False, rule=RULE)
    assert slower.verdict is Verdict.WORSE
    assert slower.estimate < 0
    assert slower.change == pytest.approx(0.2)
    low, high = slower.change_interval
    assert low <= slower.change <= high


@given(pairs, st.booleans())
def test_swapping_the_configurations_mirrors_the_verdict(
    pairs: list[tuple[float, float]],
    higher_is_better: bool,  # noqa: FBT001 - hypothesis passes it by position
):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    one = compare(first, second, higher_is_better=higher_is_better, rule=RULE)
    other = compare(second, first, higher_is_better=higher_is_better, rule=RULE)
    assert other.verdict is SWAPPED[one.verdict]
    assert (other.by_margin, other.fragile) == (one.by_margin, one.fragile)
    assert other.blocks_needed == one.blocks_needed
    mirrored = one.interval.mirrored()
    assert (other.interval.low, other.interval.high) == pytest.approx((mirrored.low, mirrored.high))


@given(pairs, st.sampled_from([2.0**-20, 2.0**10, 1e6 / 2**20, 1e-3]))
def test_another_unit_changes_nothing(pairs: list[tuple[float, float]], unit: float):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    one = compare(first, second, higher_is_better=True, rule=RULE)
    other = compare(
        [unit * a for a in first], [unit * b for b in second], higher_is_better=True, rule=RULE
    )
    assert other.verdict is one.verdict
    assert other.change_interval == pytest.approx(one.change_interval, rel=1e-9, abs=1e-12)


@given(pairs)
def test_throughput_and_time_of_the_same_work_agree(pairs: list[tuple[float, float]]):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    rate = compare(first, second, higher_is_better=True, rule=RULE)
    time = compare(
        [1 / a for a in first], [1 / b for b in second], higher_is_better=False, rule=RULE
    )
    assert rate.verdict is time.verdict


def test_comparisons_share_the_risk():
    assert replace(RULE, comparisons=6).repeated_alpha == repeated_alpha(5, 30, 0.05 / 6)
