import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.analysis.comparison import Comparison
from iostudy.analysis.decision import decide, estimate_shown, interval_ends
from iostudy.analysis.paired import UNKNOWN, mean_interval
from iostudy.analysis.rule import Rule
from iostudy.analysis.sequential import repeated_alpha, spend_in_stages
from iostudy.analysis.spending import CONTINUABLE, AnalysisMethod
from iostudy.analysis.verdict import Verdict, classify_intervals
from tests.comparisons import compare

RULE = Rule(margin=0.03, risk=0.05, min_blocks=5, max_blocks=30)
T_RULE = replace(RULE, method=AnalysisMethod.ERROR_SPENDING)
"""The rule of earlier ledgers, by Student's t alone."""
SWAPPED = {
    Verdict.NOT_WORSE: Verdict.NOT_BETTER,
    Verdict.NOT_BETTER: Verdict.NOT_WORSE,
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
    assert comparison.interval == UNKNOWN
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
    # z(1 - .035152/2) = 2.1068 and z(.8) = 0.8416, from tables of the normal distribution.
    normal = ((2.1068 + 0.8416) * np.std(ratios, ddof=1) / math.log(1.03)) ** 2
    # Guenther 1981: a t test needs about z(1 - a/2)^2 / 2 more than the normal formula says.
    assert comparison.blocks_needed == pytest.approx(normal + 2.1068**2 / 2, abs=1.5)


def test_blocks_needed_are_those_of_the_end_where_the_formula_has_failed():
    assert of_ratios([0.100, 0.1001]).blocks_needed == RULE.min_blocks
    near_zero = [0.02, -0.006, 0.03, 0.022, 0.015, 0.002, 0.042, 0.018, -0.004]
    comparison = of_ratios(near_zero)
    assert comparison.verdict is Verdict.NOT_WORSE
    assert comparison.blocks_needed == RULE.max_blocks


def test_after_the_plan_the_blocks_needed_are_those_of_a_stage():
    rule = replace(RULE, continuation=CONTINUABLE)
    assert rule.required_blocks(0.06) > RULE.max_blocks
    assert rule.estimate_blocks_needed(0.06, 30) == 60
    assert rule.estimate_blocks_needed(0.03, 20) == 30
    assert rule.estimate_blocks_needed(0.03, 30) == 60
    assert rule.estimate_blocks_needed(0.03, 61) == 120


@pytest.mark.parametrize("higher", [True, False])
def test_many_failed_runs_leave_a_verdict_without_a_size(*, higher: bool):
    figures = [math.nan, math.nan, 1.0] * 7
    for baseline, other in ((figures, [1.0] * 21), ([1.0] * 21, figures)):
        found = compare(baseline, other, higher_is_better=higher, rule=RULE)
        assert found.verdict in (Verdict.BETTER, Verdict.WORSE)
        assert math.isinf(found.estimate)
        assert math.isnan(found.change), "and not 100 % less"


@pytest.mark.parametrize("figures", [(7.5, 5.0), (0.1, 0.3)])
def test_what_does_not_vary_has_no_noise(figures: tuple[float, float]):
    baseline, other = ([figure] * 6 for figure in figures)
    assert compare(baseline, other, higher_is_better=True, rule=RULE).sd == 0


def test_one_wild_block_makes_a_verdict_fragile():
    calm = [0.1, 0.11, 0.09, 0.1, 0.12, 0.1, 0.08, 0.1, 0.11, 0.1] * 2
    comparison = of_ratios([-1.0, *calm])
    assert comparison.verdict is Verdict.BETTER
    assert comparison.fragile
    assert comparison.estimate == pytest.approx(0.1, abs=0.01)
    assert not of_ratios(calm).fragile
    assert of_ratios([-1.0, *calm], T_RULE).verdict is Verdict.INCONCLUSIVE


def test_a_verdict_that_normal_noise_barely_reaches_is_seldom_fragile():
    draw = np.random.default_rng(20240611)
    decided = fragile = 0
    for ratios in 0.05 + 0.06 * draw.standard_normal((100, 30)):
        comparison = of_ratios(list(ratios))  # it ends at its first final verdict
        decided += comparison.verdict is not Verdict.INCONCLUSIVE
        fragile += comparison.fragile
    assert decided > 90
    assert fragile <= 3


def test_a_futile_comparison_needs_more_blocks_than_its_study_has():
    noisy = of_ratios([0.6, -0.5, 0.4, -0.6, 0.5, -0.25, 0.7, -0.6] * 3)
    assert noisy.futile
    assert noisy.blocks_needed is not None
    assert noisy.blocks_needed > RULE.max_blocks


def test_fragile_is_not_claimed_where_scores_cannot_decide():
    assert not of_ratios([0.10, 0.11, 0.09, 0.10, 0.10]).fragile
    assert not of_ratios([0.10, 0.11, 0.09, 0.10, 0.10], T_RULE).fragile


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
    shared = replace(RULE, comparisons=6)
    assert shared.repeated_alpha(30) == repeated_alpha(5, 30, 0.05 / 6)
    own, looks = shared.boundaries, tuple(range(5, 31))
    assert tuple(own.difference) == spend_in_stages((looks,), (0.05 / 6,)).levels
    assert tuple(own.equivalence) == spend_in_stages((looks,), (0.1 / 6,)).levels


def test_equivalence_has_the_interval_of_two_one_sided_tests():
    ratios = [0.015, -0.02, 0.025, 0.005, -0.01, 0.02, 0.0, 0.01] * 3
    at_once = replace(T_RULE, min_blocks=24)
    found, rule = of_ratios(ratios, at_once), at_once.boundaries
    wide = mean_interval(np.array(ratios), rule.level(24, equivalence=False))
    narrow = mean_interval(np.array(ratios), rule.level(24, equivalence=True))
    assert found.verdict is Verdict.EQUIVALENT
    assert wide.low < narrow.low < found.estimate < narrow.high < wide.high
    assert (found.interval.low, found.interval.high) == pytest.approx((narrow.low, narrow.high))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_one_sided_verdict_moves_the_end_of_its_side_alone(sign: int):
    ratios = 1.6 * np.array([0.08, -0.07, 0.05, -0.05, 0.06, -0.03, 0.02, 0.02] * 3)
    rule = replace(RULE, min_blocks=24, max_blocks=24)
    levels = (rule.boundaries.level(24, equivalence=sided) for sided in (False, True))
    wide, narrow = (interval_ends(ratios[None], level, rule) for level in levels)
    found = of_ratios(list(sign * ratios), rule)
    assert found.verdict is (Verdict.NOT_WORSE if sign > 0 else Verdict.NOT_BETTER)
    assert wide[0] < narrow[0] < 0
    ends = (found.interval.low, found.interval.high)
    assert ends[::sign] == pytest.approx((sign * narrow[0].item(), sign * wide[1].item()))


def test_an_equivalent_difference_that_exists_keeps_the_nearer_end():
    ratios = np.array([0.010, 0.012, 0.011, 0.009, 0.010, 0.008] * 2)
    rule = replace(T_RULE, min_blocks=12)
    wide = mean_interval(ratios, rule.boundaries.level(12, equivalence=False))
    found = of_ratios(list(ratios), rule)
    assert found.verdict is Verdict.EQUIVALENT
    assert found.interval.low == pytest.approx(wide.low)
    assert found.interval.high < wide.high


def test_the_interval_of_two_one_sided_tests_reaches_to_zero():
    # Only the one-sided test excludes zero, which shows no difference.
    ratios = np.array([0.03, -0.01, 0.02, -0.005, 0.022, 0.003, 0.001, 0.009] * 3)
    rule = replace(T_RULE, margin=0.05, min_blocks=24)
    scale = rule.boundaries.level(24, equivalence=True) * 1.02
    moved = ratios - mean_interval(ratios, scale).low
    narrow = mean_interval(moved, rule.boundaries.level(24, equivalence=True))
    moved += 1e-4 - narrow.low
    found = of_ratios(list(moved), rule)
    assert found.verdict is Verdict.EQUIVALENT
    assert found.interval.low == 0.0


@given(pairs, st.sampled_from([0.01, 0.05, 0.3]))
def test_the_shown_interval_gives_the_verdict(pairs: list[tuple[float, float]], margin: float):
    rule = replace(RULE, margin=margin)
    found = compare([a for a, _ in pairs], [b for _, b in pairs], higher_is_better=True, rule=rule)
    shown = found.interval
    assert found.verdict.two_sided == classify_intervals(shown.low, shown.high, found.blocks, rule)
    if found.verdict is Verdict.NOT_WORSE:
        assert shown.low > -rule.delta
    if found.verdict is Verdict.NOT_BETTER:
        assert shown.high < rule.delta
    if len(pairs) > 1:
        assert shown.low <= found.estimate <= shown.high


def test_a_comparison_that_its_budget_cannot_decide_is_futile():
    noisy = of_ratios([0.3, -0.3, 0.2, -0.25, 0.01] * 3, T_RULE)
    assert (noisy.verdict, noisy.futile) == (Verdict.INCONCLUSIVE, True)
    assert noisy.blocks_needed > RULE.max_blocks
    assert not of_ratios([0.3, -0.3, 0.2, -0.25]).futile
    last = replace(T_RULE, min_blocks=30)
    assert not of_ratios([0.3, -0.3, 0.2, -0.25, 0.01] * 6, last).futile
    assert not of_ratios([0.1, 0.03, 0.05, 0.12, -0.02]).futile
    one_sided = of_ratios([0.3, -0.3, 0.2, -0.25, 0.01] * 3)
    assert not one_sided.futile, "it may still become not worse"


def test_the_earlier_method_is_kept():
    earlier = replace(RULE, method=AnalysisMethod.CONSTANT_LEVEL)
    ratios = [0.02, -0.01, 0.03, 0.015, 0.01, 0.0, 0.02]
    found = of_ratios(ratios, earlier)
    expected = mean_interval(np.array(ratios), repeated_alpha(5, 30, 0.05))
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high))
    assert not of_ratios([0.3, -0.3, 0.2, -0.25, 0.01] * 5, earlier).futile
    assert earlier.detectable_difference(30) > 1.2 * RULE.detectable_difference(30)


def test_blocks_after_the_last_look_wait_for_the_next():
    rule = replace(RULE, max_blocks=100)
    assert rule.boundaries.looks[-3:] == (95, 98, 100)
    ratios = [0.02, -0.05, 0.03, 0.01, 0.0] * 20
    assert of_ratios(ratios[:97], rule) == of_ratios(ratios[:95], rule)


def test_a_bias_widens_every_interval():
    ratios = [0.2, -0.5, 0.3, 0.1, 0.0, 0.3, 0.2, 0.1] * 3
    own, widened = of_ratios(ratios, RULE), of_ratios(ratios, replace(RULE, bias=0.01))
    assert widened.estimate == own.estimate
    assert widened.interval.high - own.interval.high == pytest.approx(0.01)
    assert own.interval.low - widened.interval.low == pytest.approx(0.01)


def test_a_bias_needs_more_blocks():
    own, biased = RULE, replace(RULE, bias=RULE.delta / 2)
    assert biased.required_blocks(0.05) > 3 * own.required_blocks(0.05)


def test_a_bias_turns_equivalence_into_inconclusive():
    ratios = [0.012, 0.008, 0.01, 0.011, 0.009, 0.01] * 2
    assert of_ratios(ratios, replace(RULE, margin=0.015)).verdict is not Verdict.INCONCLUSIVE
    wide = of_ratios(ratios, replace(RULE, margin=0.015, bias=0.012))
    assert wide.verdict.two_sided is Verdict.INCONCLUSIVE


def test_a_one_sided_word_stays():
    ratios = 0.06 * np.random.default_rng(7).standard_normal((100, 30)) + 0.02
    words = np.array([decide(ratios[:, :n], RULE).words for n in range(5, 31)])
    reached = words == str(Verdict.NOT_WORSE)
    assert reached[-1].mean() > 0.2
    later = np.logical_or.accumulate(reached, axis=0)
    assert not (later & (words == str(Verdict.INCONCLUSIVE))).any()


def test_no_word_before_each_order_occurred_twice():
    gain = [100.0 * math.exp(0.1 + 0.001 * (i % 3)) for i in range(9)]
    one_order = [True] * 9
    late = [True, True, True, False, True, True, True, False, True]

    def verdict(blocks: int, after: list[bool]) -> Verdict:
        return compare(
            [100.0] * blocks,
            gain[:blocks],
            higher_is_better=True,
            rule=RULE,
            after=after[:blocks],
        ).verdict

    assert verdict(9, one_order) is Verdict.INCONCLUSIVE
    assert verdict(7, late) is Verdict.INCONCLUSIVE
    assert verdict(8, late) is Verdict.BETTER


def test_a_failed_run_ranks_below_everything():
    draw = np.random.default_rng(3)
    calm = list(100 * np.exp(0.01 * draw.standard_normal(24)))
    failing = [math.nan if i % 2 else figure for i, figure in enumerate(calm)]
    for higher in (True, False):
        lost = compare(calm, failing, higher_is_better=higher, rule=RULE)
        won = compare(failing, calm, higher_is_better=higher, rule=RULE)
        assert (lost.verdict, won.verdict) == (Verdict.WORSE, Verdict.BETTER)
        assert lost.slow is not None
        assert lost.slow.slow >= lost.blocks // 2
    both = compare([*calm, math.nan], [*calm, math.nan], higher_is_better=True, rule=RULE)
    assert both.blocks <= len(calm)


def test_before_scores_can_decide_a_failed_run_gives_no_word():
    found = compare([100.0] * 5, [200.0] * 4 + [math.nan], higher_is_better=True, rule=RULE)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.interval == UNKNOWN


def test_rare_slow_runs_are_a_condition_of_equivalence():
    draw = np.random.default_rng(5)
    base, same = (list(100 * np.exp(0.002 * draw.standard_normal(30))) for _ in range(2))
    usual = compare(base, same, higher_is_better=True, rule=RULE)
    assert (usual.verdict, usual.blocks) == (Verdict.EQUIVALENT, 5)
    strict = compare(base, same, higher_is_better=True, rule=replace(RULE, rare=0.2))
    assert (strict.verdict, strict.slow.slow) == (Verdict.EQUIVALENT, 0)  # type: ignore[union-attr]
    # 1 - (0.05 spent(n/30))^(1/n) is below 20 % from 21 blocks on.
    assert strict.blocks == 21
    stalls = [figure / 2 if i % 7 == 0 else figure for i, figure in enumerate(same)]
    slow = compare(base, stalls, higher_is_better=True, rule=replace(RULE, rare=0.2))
    assert slow.verdict is Verdict.INCONCLUSIVE
    # Blocks in which both failed count as slow runs of both.
    lost = ([math.nan if i % 4 == 0 else y for i, y in enumerate(x)] for x in (base, same))
    failing = compare(*lost, higher_is_better=True, rule=replace(RULE, rare=0.3))
    assert failing.verdict is not Verdict.EQUIVALENT


def test_many_studies_are_decided_as_one():
    ratios = 0.05 * np.random.default_rng(9).standard_t(3, (20, 30)) + 0.02
    ended = decide(ratios, RULE)
    shown = estimate_shown(ratios, ended, RULE)
    for index, study in enumerate(ratios):
        found = of_ratios(list(study))
        assert str(found.verdict) == ended.words[index]
        assert (found.blocks, found.futile) == (ended.blocks[index], ended.futile[index])
        interval = found.interval
        assert [found.estimate, interval.low, interval.high] == pytest.approx(shown[:, index])


def test_equivalence_has_two_tests_at_the_whole_risk():
    rule = replace(RULE, min_blocks=10, max_blocks=10)
    pattern = np.linspace(-1, 1, 10)
    halves = {risk: interval_ends(pattern[None], risk, rule)[1][0] for risk in (0.05, 0.10)}
    assert halves[0.10] < halves[0.05]
    between = rule.delta / np.mean(list(halves.values()))
    assert of_ratios(list(between * pattern), rule).verdict is Verdict.EQUIVALENT
    beyond = 1.01 * rule.delta / halves[0.10]
    assert of_ratios(list(beyond * pattern), rule).verdict is Verdict.INCONCLUSIVE
