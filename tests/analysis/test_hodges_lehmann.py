import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from iostudy.analysis.hodges_lehmann import (
    hodges_lehmann,
    signed_rank_interval,
    walsh_averages,
)
from iostudy.analysis.paired import UNKNOWN, Array, Interval


def interval_of(ratios: Array, alpha: float) -> Interval:
    return signed_rank_interval(walsh_averages(ratios), len(ratios), alpha)


def test_the_estimate_is_the_median_of_pairwise_means():
    ratios = [0.1, 0.5, 7.0, -0.2, 0.3]
    pairs = itertools.combinations_with_replacement(ratios, 2)
    found = hodges_lehmann(walsh_averages(np.array(ratios)))
    assert found == pytest.approx(np.median([sum(p) / 2 for p in pairs]))
    assert math.isnan(hodges_lehmann(walsh_averages(np.array([]))))


@pytest.mark.parametrize(
    ("count", "trimmed"),
    # Hollander, Wolfe & Chicken, table of the signed-rank statistic: P(W <= k) <= .025.
    [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (15, 25)],
)
def test_the_published_quantiles_at_five_percent(count: int, trimmed: int):
    ratios = np.array([3.0**power for power in range(count)])
    averages = sorted((a + b) / 2 for a, b in itertools.combinations_with_replacement(ratios, 2))
    interval = interval_of(ratios, 0.05)
    assert (interval.low, interval.high) == (averages[trimmed], averages[-1 - trimmed])


@given(st.sets(st.integers(-1000, 1000), min_size=2, max_size=20), st.floats(0.005, 0.3))
def test_zero_lies_outside_exactly_where_scipys_exact_test_rejects(values: set[int], alpha: float):
    ratios = np.array(sorted(values)) + 0.123
    interval = interval_of(ratios, alpha)
    excluded = not interval.low <= 0 <= interval.high
    assert excluded == (stats.wilcoxon(ratios, method="exact").pvalue <= alpha)


def test_too_few_ratios_for_the_level_give_no_interval():
    assert interval_of(np.arange(5.0), 0.05) == UNKNOWN
    assert interval_of(np.arange(6.0), 0.05) != UNKNOWN
    assert interval_of(np.array([]), 0.05) == UNKNOWN


def test_one_wild_ratio_moves_it_little():
    calm = np.linspace(-0.01, 0.01, 20)
    wild = np.where(np.arange(20) == 19, 50.0, calm)
    assert interval_of(wild, 0.05).high < 0.02
