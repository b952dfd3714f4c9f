"""Meta-analysis: published figures, limits with exact results, odd effects, classes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from iostudy_fleet.meta_analysis import compare_classes, find_odd_effects, pool

BCG = np.array(
    [
        (4, 119, 11, 128),
        (6, 300, 29, 274),
        (3, 228, 11, 209),
        (62, 13536, 248, 12619),
        (33, 5036, 47, 5761),
        (180, 1361, 372, 1079),
        (8, 2537, 10, 619),
        (505, 87886, 499, 87892),
        (29, 7470, 45, 7232),
        (17, 1699, 65, 1600),
        (186, 50448, 141, 27197),
        (5, 2493, 3, 2338),
        (27, 16886, 29, 17825),
    ],
    dtype=float,
)
"""Trials of the BCG vaccine (Colditz et al. 1994): cases and others, vaccinated and not."""


def bcg() -> tuple[list[float], list[float]]:
    """Log risk ratios and their variances."""
    a, b, c, d = BCG.T
    ratios = np.log(a / (a + b)) - np.log(c / (c + d))
    return list(ratios), list(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))


def test_published_data_give_the_figures_of_reference_implementations() -> None:
    found = pool(*bcg())
    # statsmodels 0.15.0, combine_effects(..., method_re="iterated", use_t=True)
    assert found.tau_squared == pytest.approx(0.318068452, rel=1e-8)
    assert found.mean == pytest.approx(-0.714968, abs=1e-6)
    assert found.standard_error == pytest.approx(0.180892, abs=1e-6)
    interval = found.interval(0.05)
    assert (interval.low, interval.high) == pytest.approx((-1.10909838, -0.32083793), abs=1e-8)
    # Q-profile interval of tau^2 in the tests of the R package metafor: 0.1197, 1.1115
    assert np.square(found.tau_interval(0.05)) == pytest.approx((0.1197, 1.1115), abs=5e-5)


@pytest.mark.parametrize("count", [2, 3, 10])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_without_noise_the_prediction_interval_is_that_of_a_normal_sample(
    count: int, alpha: float
) -> None:
    values = np.random.default_rng(count).normal(size=count)
    found = pool(list(values), [1e-9] * count).prediction(alpha)
    half = scipy.stats.t.isf(alpha / 2, count - 1) * values.std(ddof=1) * np.sqrt(1 + 1 / count)
    expected = values.mean() - half, values.mean() + half
    assert (found.low, found.high) == pytest.approx(expected, rel=0.005, abs=0.005 * half)


def test_equal_variances_give_the_t_interval_of_the_mean() -> None:
    values = np.random.default_rng(3).normal(size=8)
    found = pool(list(values), [0.1] * 8).interval(0.05)
    expected = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_less_spread_than_noise_is_no_difference_between_nodes() -> None:
    found = pool([0.1, 0.11, 0.09, 0.1], [0.04] * 4)
    assert (found.tau, found.i_squared) == (0.0, 0.0)
    assert found.tau_interval(0.05)[0] == 0
    inner, outer = found.interval(0.05), found.prediction(0.05)
    assert outer.low < inner.low
    assert inner.high < outer.high


effects = st.lists(st.tuples(st.floats(-1, 1), st.floats(1e-6, 1)), min_size=2, max_size=12)


@given(effects, st.floats(-2, 2))
def test_shifting_all_effects_shifts_all_intervals(
    data: list[tuple[float, float]], shift: float
) -> None:
    estimates, variances = map(list, zip(*data, strict=True))
    found = pool(estimates, variances)
    moved = pool([own + shift for own in estimates], variances)
    assert moved.mean == pytest.approx(found.mean + shift, abs=1e-6)
    for ours, theirs in zip(
        (found.interval(0.05), found.prediction(0.05)),
        (moved.interval(0.05), moved.prediction(0.05)),
        strict=True,
    ):
        width = ours.high - ours.low
        expected = (ours.low + shift, ours.high + shift)
        assert (theirs.low, theirs.high) == pytest.approx(expected, abs=1e-5 + 1e-3 * width)


@pytest.mark.parametrize(
    ("estimates", "variances"),
    [([1.0], [1.0]), ([1.0, 2.0], [1.0]), ([1.0, np.nan], [1.0, 1.0]), ([1.0, 2.0], [1.0, 0.0])],
)
def test_unusable_effects_are_refused(estimates: list[float], variances: list[float]) -> None:
    with pytest.raises(ValueError, match="effects"):
        pool(estimates, variances)


def test_an_odd_effect_is_found_with_its_distance_from_the_others() -> None:
    estimates = [0.01, -0.02, 0.0, 0.015, -0.01, 0.005, -0.4, 0.02, -0.005, 0.0]
    (odd,) = find_odd_effects(estimates, [1e-4] * 10, 0.05)
    assert odd.index == 6
    assert odd.deviation == pytest.approx(-0.4 - np.mean(estimates[:6] + estimates[7:]), abs=1e-3)
    assert odd.p_value < 1e-6


def test_two_odd_effects_do_not_hide_each_other() -> None:
    estimates = [0.01, -0.02, 0.0, 0.015, -0.01, 0.005, -0.4, 0.02, -0.41, 0.0]
    odd = find_odd_effects(estimates, [1e-4] * 10, 0.05)
    assert {each.index for each in odd} == {6, 8}


def test_a_spread_that_all_effects_have_makes_none_odd() -> None:
    estimates = list(np.random.default_rng(4).normal(0, 0.3, 10))
    assert find_odd_effects(estimates, [1e-4] * 10, 0.05) == ()


def test_an_effect_of_much_noise_is_not_odd() -> None:
    estimates = [0.01, -0.02, 0.0, 0.015, -0.01, 0.005, -0.4, 0.02, -0.005, 0.0]
    variances = [1e-4] * 6 + [0.04] + [1e-4] * 3
    assert find_odd_effects(estimates, variances, 0.05) == ()


def test_two_effects_have_no_odd_one() -> None:
    assert find_odd_effects([0.0, 1.0], [1e-4] * 2, 0.05) == ()


def test_classes_of_equal_variances_give_the_f_test_of_a_one_way_layout() -> None:
    draw = np.random.default_rng(5)
    groups = [draw.normal(0, 1, 4), draw.normal(0.5, 1, 6), draw.normal(0, 1, 3)]
    labels = [name for name, own in zip("abc", groups, strict=True) for _ in own]
    found = compare_classes(list(np.concatenate(groups)), [0.01] * 13, labels)
    assert found == pytest.approx(scipy.stats.f_oneway(*groups).pvalue)


@pytest.mark.parametrize("classes", ["aaaa", "abcd"])
def test_classes_need_two_and_more_nodes_than_classes(classes: str) -> None:
    with pytest.raises(ValueError, match="two"):
        compare_classes([1.0, 2.0, 3.0, 4.0], [1.0] * 4, list(classes))
