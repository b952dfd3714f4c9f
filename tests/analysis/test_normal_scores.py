import itertools
import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from iostudy.analysis import normal_scores
from iostudy.analysis.normal_scores import centre, exceeds, interval_ends, is_attainable, statistic

differences = st.lists(st.floats(-1, 1), min_size=8, max_size=14).map(np.array)


def scores(count: int) -> np.ndarray:
    ranks = np.arange(1, count + 1)
    return np.round(1000 * scipy.stats.norm.ppf(0.5 + ranks / (2 * (count + 1))))


def test_the_statistic_is_the_sum_of_signed_scores():
    d = np.array([[0.3, -0.1, 0.5, -0.2]])
    expected = scores(4)[2] - scores(4)[0] + scores(4)[3] - scores(4)[1]
    assert statistic(d, 0.0)[0] == expected


@pytest.mark.parametrize("count", [5, 9, 12])
def test_the_null_distribution_is_that_of_all_sign_changes(count: int):
    signs = np.array(list(itertools.product((-1, 1), repeat=count)))
    sums = signs @ scores(count)
    for size in np.unique(np.abs(sums))[:: max(1, 2**count // 40)]:
        expected = np.mean(sums >= size)
        assert normal_scores._tails(count)[int(size)] == pytest.approx(expected)


def test_the_test_of_every_pattern_of_signs_is_that_of_its_mirror_image():
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=8)))
    differences = signs * np.arange(1.0, 9.0)
    above, below = exceeds(differences, 0.0, 0.05)
    mirrored = exceeds(-differences, 0.0, 0.05)
    assert (above == mirrored[1]).all()
    assert (below == mirrored[0]).all()
    assert 0 < above.mean() <= 0.025


@pytest.mark.parametrize(("count", "level"), [(5, 0.05), (6, 0.05), (12, 0.0005), (200, 0.01)])
def test_the_level_holds_and_is_nearly_used(count: int, level: float):
    if not is_attainable(count, level):
        assert 2 * 0.5**count > level
        return
    draw, studies = np.random.default_rng(1), 240_000 // count if count > 12 else 20_000
    ratios = draw.standard_t(3, (studies, count))
    found = float(exceeds(ratios, 0.0, level).any(axis=0).mean())
    error = math.sqrt(level / studies)
    assert (level - 2 * 0.5**count) - 4 * error <= found <= level + 4 * error


@given(differences, st.floats(-1, 1), st.sampled_from([0.05, 0.01]))
def test_the_interval_is_what_the_test_does_not_reject(d, theta, level):
    if not is_attainable(len(d), level):
        return
    d = d + 1e-3 * np.random.default_rng(2).standard_normal(len(d))
    low, high = (end[0] for end in interval_ends(d[None], level))
    rejected = exceeds(d[None], theta, level)[0] or exceeds(-d[None], -theta, level)[0]
    assert rejected == (theta < low or theta > high)
    assert low <= centre(d[None])[0] <= high


@given(differences)
def test_the_estimate_mirrors_and_moves_with_the_data(d):
    assert centre(-d[None])[0] == pytest.approx(-centre(d[None])[0], abs=1e-12)
    assert centre(d[None] + 3)[0] == pytest.approx(centre(d[None])[0] + 3, abs=1e-9)


def test_ties_and_zeros():
    equal = np.full((1, 12), 0.25)
    assert centre(equal)[0] == 0.25
    assert [end[0] for end in interval_ends(equal, 0.05)] == [0.25, 0.25]
    assert statistic(np.array([[0.1, -0.1, 0.2, 0.0]]), 0.0)[0] == scores(4)[3]


def test_infinite_differences_have_the_largest_scores_and_cancel():
    d = np.array([[0.1, 0.2, 0.3, -np.inf]])
    assert statistic(d, 0.0)[0] == scores(4)[:3].sum() - scores(4)[3]
    two = np.array([[0.1, 0.2, np.inf, -np.inf]])
    assert statistic(two, 0.0)[0] == scores(4)[:2].sum()
    lost = np.concatenate([np.full(12, -np.inf), [0.0, 0.1, 0.2]])[None]
    low, high = interval_ends(lost, 0.05)
    assert (low[0], high[0], centre(lost)[0]) == (-math.inf, -math.inf, -math.inf)
    some = np.concatenate([np.full(2, -np.inf), np.linspace(-1, 1, 30)])[None]
    low, high = interval_ends(some, 0.05)
    assert -math.inf < low[0] < centre(some)[0] < high[0] < 1


def test_an_end_is_the_average_from_which_t_is_its_limit():
    differences = np.array([[1.0, 2.0, 4.0, 8.0]])
    (averages,) = normal_scores.walsh_averages(differences)
    for average, following in itertools.pairwise(averages):
        (limit,) = statistic(differences, [(average + following) / 2])
        assert normal_scores._first_changes(differences, (limit,)) == average
