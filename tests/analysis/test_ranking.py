"""Rankings compared with manual formulae and scipy, and invariances."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from iostudy.analysis import normal_scores
from iostudy.analysis.paired import Interval, mean_interval
from iostudy.analysis.ranking import (
    BlockedRuns,
    PairwiseOrder,
    Ranking,
    RankSet,
    is_rankable,
    rank,
)
from iostudy.analysis.rule import Rule
from tests.comparisons import compare

RULE = Rule(margin=0.03, risk=0.05, min_blocks=5, max_blocks=30)
Array = NDArray[np.float64]


def drawn(blocks: int, effects: list[float], seed: int = 1, noise: float = 0.01) -> Array:
    """Blocks x configurations, each block with a level of its own."""
    draw = np.random.default_rng(seed)
    own = draw.normal(0, noise, (blocks, len(effects)))
    return own + np.asarray(effects) + draw.normal(5, 1, (blocks, 1))


def without(figures: Array, configuration: int, after: int) -> Array:
    """The same, but for a configuration that was decided after some blocks."""
    figures = figures.copy()
    figures[after:, configuration] = np.nan
    return figures


def ranked(
    *workloads: Array, weights: Sequence[float] | None = None, margin: float = 0.03
) -> Ranking:
    return rank(
        [BlockedRuns(own) for own in workloads],
        weights or [1.0] * len(workloads),
        verdict_rule(*workloads, margin=margin),
    )


def verdict_rule(*workloads: Array, margin: float = 0.03) -> Rule:
    comparisons = (workloads[0].shape[1] - 1) * len(workloads)
    return replace(RULE, margin=margin, comparisons=comparisons)


def level(comparisons: int) -> float:
    return replace(RULE, comparisons=comparisons).repeated_alpha(RULE.max_blocks)


def deciding_interval(ratios: Array, rule: Rule) -> Interval:
    """The interval by which pairs that are not equivalent are decided."""
    return mean_interval(ratios, rule.boundaries.level(len(ratios), equivalence=False))


def interval(order: PairwiseOrder, first: int, second: int) -> Interval:
    return Interval(float(order.pairs.low[first, second]), float(order.pairs.high[first, second]))


def equal(found: Interval, wanted: Interval) -> bool:
    return (found.low, found.high) == pytest.approx((wanted.low, wanted.high))


def centre(differences: Array) -> float:
    return float(normal_scores.centre(differences[None])[0])


def rank_bounds(order: PairwiseOrder) -> list[tuple[int, int]]:
    return [(ranks.best, ranks.worst) for ranks in order.ranks]


def test_the_baselines_pairs_on_a_workload_are_decided_by_its_verdicts():
    figures = drawn(9, [0.0, 0.0, 0.05], noise=0.02)
    order = ranked(figures, figures).by_workload[0]
    for other in (1, 2):
        verdict = compare(
            np.exp(figures[:, 0]).tolist(),
            np.exp(figures[:, other]).tolist(),
            higher_is_better=True,
            rule=verdict_rule(figures, figures),
        )
        assert equal(interval(order, other, 0), verdict.interval)
        assert equal(interval(order, 0, other), verdict.interval.mirrored())
        assert order.verdicts[other, 0] == verdict.verdict
    assert len(set(order.verdicts[1:, 0])) == 2


def test_the_other_pairs_on_a_workload_share_the_risk():
    figures = drawn(5, [0.0, 0.02, 0.05, 0.1])
    order = ranked(figures, figures).by_workload[0]
    apart = figures[:, 2] - figures[:, 1]
    # Three pairs are without the baseline, on each of two workloads, and share half of the risk.
    assert equal(interval(order, 2, 1), deciding_interval(apart, replace(RULE, comparisons=12)))


def test_on_all_workloads_together_all_pairs_share_the_risk():
    quiet, loud = drawn(9, [0.0, 0.02], seed=1), drawn(6, [0.0, 0.05], seed=2, noise=0.04)
    order = ranked(quiet, loud).combined
    apart = [figures[:, 1] - figures[:, 0] for figures in (quiet, loud)]
    centres = np.array([centre(own) for own in apart])
    ends = [mean_interval(own, level(1 * 2)) for own in apart]
    below = np.hypot(*(centres - [end.low for end in ends])) / 2
    above = np.hypot(*([end.high for end in ends] - centres)) / 2
    assert order.pairs.value[1, 0] == pytest.approx(centres.mean())
    assert equal(interval(order, 1, 0), Interval(centres.mean() - below, centres.mean() + above))


def test_a_few_slow_runs_hardly_move_the_combined_difference():
    figures = drawn(30, [0.0, 0.0], noise=0.005)
    slow = figures.copy()
    slow[[3, 12], 1] -= 1.0
    assert ranked(slow, figures).combined.verdicts[1, 0] == "equivalent"
    assert (slow[:, 1] - slow[:, 0]).mean() < -0.06


def test_failed_runs_rank_below_everything():
    figures = drawn(30, [0.0, 0.0, 0.0], noise=0.005)
    some, most, both = figures.copy(), figures.copy(), figures.copy()
    some[:1, 1] = most[:28, 1] = both[:28, 1:] = -np.inf
    order = ranked(some, figures).combined
    assert order.verdicts[1, 0] == "equivalent"
    assert np.isfinite(order.pairs.value).all()
    order = ranked(most, figures).combined
    assert order.pairs.value[1, 0] == -np.inf
    assert np.isnan(order.pairs.as_fractions().value[[1, 0], [0, 1]]).all(), "no loss of 100 %"
    assert rank_bounds(order) == [(1, 2), (3, 3), (1, 2)]
    opposed = figures.copy()
    opposed[:28, 0] = -np.inf
    assert ranked(most, opposed).combined.verdicts[1, 0] == "inconclusive"
    assert not is_rankable([BlockedRuns(both)] * 2, RULE), "two blocks without both failed"


def test_the_difference_from_the_mean_is_that_of_all_pairs():
    order = ranked(drawn(8, [0.0, 0.02, 0.05])).combined
    for ends, pairs in (
        (order.vs_mean.value, order.pairs.value),
        (order.vs_mean.low, order.pairs.low),
    ):
        assert ends[2] == pytest.approx((pairs[2, 0] + pairs[2, 1]) / 3)
    assert order.vs_mean.value.sum() == pytest.approx(0)


def test_a_pair_has_the_blocks_that_both_have_run():
    whole = drawn(12, [0.0, 0.02, 0.05])
    order = ranked(without(whole, 2, after=5)).combined
    assert interval(order, 1, 0) == interval(ranked(whole).combined, 1, 0)
    early = whole[:5, 2] - whole[:5, 0]
    assert equal(interval(order, 2, 0), deciding_interval(early, verdict_rule(whole)))


def test_weights_count_by_their_ratios():
    workloads = drawn(8, [0.0, 0.02], 1), drawn(8, [0.0, 0.08], 2)
    each = [centre(figures[:, 1] - figures[:, 0]) for figures in workloads]
    for weights in ([3, 1], [0.75, 0.25]):
        order = ranked(*workloads, weights=weights).combined
        assert order.pairs.value[1, 0] == pytest.approx(0.75 * each[0] + 0.25 * each[1])


def test_ranks_that_are_known_and_ties_that_share_them():
    for ranking in (
        ranked(*[drawn(20, [0.10, 0.0, 0.10, 0.30], s) for s in range(w)]) for w in (1, 2)
    ):
        assert rank_bounds(ranking.combined) == [(2, 3), (4, 4), (2, 3), (1, 1)]
        assert ranking.combined.best == (3,)


def test_noise_leaves_every_rank_open():
    order = ranked(drawn(5, [0.0, 0.01, 0.02], noise=0.2)).combined
    assert order.ranks == (RankSet(1, 3),) * 3
    assert order.best == (0, 1, 2)


def test_a_difference_within_the_margin_is_none():
    figures = np.tile([0.0, 0.02, 0.1], (5, 1))
    assert rank_bounds(ranked(figures).combined) == [(2, 3), (2, 3), (1, 1)]
    assert rank_bounds(ranked(figures, margin=0.01).combined) == [(3, 3), (2, 2), (1, 1)]


def test_two_are_distinguished_only_if_one_of_them_differs_from_the_baseline():
    figures = drawn(30, [0.0, 0.04, -0.04], noise=0.001)
    figures[:, 0] += np.resize([1, -1], 30)
    noisy = ranked(figures).combined
    assert interval(noisy, 1, 2).low > 0.03
    assert noisy.verdicts[1, 2] == "inconclusive"
    assert rank_bounds(noisy) == [(1, 3)] * 3
    figures[:, 0] = figures[:, 1] - 0.04
    assert rank_bounds(ranked(figures).combined) == [(2, 2), (1, 1), (3, 3)]


def crossed(*effects: list[float], margin: float = 0.03) -> Ranking:
    return ranked(*[drawn(10, own, seed) for seed, own in enumerate(effects)], margin=margin)


def test_a_pair_that_changes_places_leaves_no_single_order():
    ranking = crossed([0.0, 0.10, -0.3], [0.0, -0.08, -0.3])
    (crossing,) = ranking.interactions
    assert (crossing.first, crossing.second) == (0, 1)
    assert (crossing.better, crossing.worse) == ((1,), (0,))
    assert not ranking.has_single_order
    assert [order.best for order in ranking.by_workload] == [(1,), (0,)]


def test_inferior_configurations_may_change_places():
    ranking = crossed([0.5, 0.10, 0.0], [0.5, -0.08, 0.0])
    assert [(c.first, c.second) for c in ranking.interactions] == [(1, 2)]
    assert ranking.has_single_order
    assert ranking.combined.best == (0,)


def test_a_difference_within_the_margin_is_no_change_of_places():
    assert not crossed([0.0, 0.02], [0.0, -0.02], margin=0.05).interactions
    assert crossed([0.0, 0.02], [0.0, -0.02], margin=0.001).interactions


def test_effects_of_different_size_are_no_change_of_places():
    assert not crossed([0.0, 0.5, 0.1], [0.0, 0.05, 0.04]).interactions


def test_requirements_of_a_ranking():
    def rankable(*figures: Array) -> bool:
        return is_rankable([BlockedRuns(own) for own in figures], RULE)

    assert rankable(drawn(5, [0.0] * 3))
    assert rankable(*[drawn(5, [0.0] * 2)] * 2)
    assert not rankable(drawn(5, [0.0] * 2)), "a verdict says it"
    assert not rankable(*[drawn(9, [0.0])] * 2)
    assert not rankable(drawn(5, [0.0] * 3), drawn(4, [0.0] * 3))
    assert not rankable(without(drawn(9, [0.0] * 3), 1, after=4))


effects = st.lists(st.floats(-0.2, 0.2), min_size=3, max_size=5)


@given(effects, st.randoms(use_true_random=False))
def test_the_order_of_configurations_does_not_matter(own, random):
    places = list(range(len(own)))
    random.shuffle(places)
    workloads = [drawn(6, own, seed, noise=0.05) for seed in (1, 2)]
    order = ranked(*workloads).combined
    shuffled = ranked(*(figures[:, places] for figures in workloads)).combined
    assert shuffled.ranks == tuple(order.ranks[place] for place in places)
    np.testing.assert_allclose(shuffled.vs_mean.value, order.vs_mean.value[places], atol=1e-9)


@given(effects)
def test_block_effects_and_units_do_not_matter(own):
    figures = drawn(6, own, noise=0.05)
    shifted = figures + np.arange(6)[:, None] + 3.7
    ours, theirs = (ranked(each).combined for each in (figures, shifted))
    np.testing.assert_allclose(ours.pairs.low, theirs.pairs.low, atol=1e-9)
    assert ours.ranks == theirs.ranks


@given(effects)
def test_ranks_of_times_are_mirrored(own):
    figures, count = drawn(6, own, noise=0.05), len(own)
    up, down = (ranked(sign * figures).combined for sign in (1, -1))
    assert down.ranks == tuple(RankSet(count + 1 - r.worst, count + 1 - r.best) for r in up.ranks)


@given(effects)
def test_a_rank_set_holds_the_rank_of_the_estimates(own):
    order = ranked(*[drawn(6, own, seed, noise=0.05) for seed in (1, 2)]).combined
    places = scipy.stats.rankdata(-order.vs_mean.value, method="ordinal")
    for place, ranks in zip(places, order.ranks, strict=True):
        assert ranks.best <= place <= ranks.worst
