import math

import numpy as np
import pytest
import scipy

from iostudy.analysis.slow_runs import bound_share, find_slow_runs, is_slow


@pytest.mark.parametrize(("slow", "runs"), [(0, 5), (0, 30), (1, 30), (7, 20), (20, 20)])
def test_the_bound_is_that_of_clopper_and_pearson(slow: int, runs: int):
    expected = scipy.stats.beta.isf(0.05, slow + 1, runs - slow) if slow < runs else 1.0
    assert bound_share(slow, runs, 0.05) == pytest.approx(expected, abs=1e-6)


def test_no_slow_run_in_30_leaves_nearly_a_tenth():
    assert find_slow_runs(np.zeros(30), 0.03, 0.05).at_most == pytest.approx(0.095, abs=0.001)
    assert find_slow_runs(np.zeros(0), 0.03, 0.05).at_most == 1.0


def test_slow_is_beyond_five_margins_of_the_median_and_failed():
    x = np.array([0.0] * 5 + [-math.log(1.25) - 0.01, -math.log(1.25) + 0.01, -math.inf, 3.0])
    assert list(np.flatnonzero(is_slow(x, 0.05))) == [5, 7]


def test_more_failures_than_results_are_all_slow():
    assert is_slow(np.array([-math.inf, -math.inf, 0.0]), 0.05).sum() == 2
