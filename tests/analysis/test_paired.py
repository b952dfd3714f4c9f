import math

import numpy as np
import pytest
import scipy
from hypothesis import assume, given
from hypothesis import strategies as st

from iostudy.analysis.paired import UNKNOWN, Interval, PairedRuns, as_fraction, mean_interval

ratio_lists = st.lists(st.floats(-1, 1), min_size=2, max_size=30)


def test_positive_is_better_whichever_way_the_figure_points():
    for higher_is_better, sign in ((True, 1), (False, -1)):
        runs = PairedRuns.from_figures([100.0], [110.0], higher_is_better=higher_is_better)
        assert runs.differences == pytest.approx(sign * math.log(1.1))


def test_a_failed_run_is_worse_than_any_and_two_in_a_block_are_left_out():
    for higher_is_better in (True, False):
        figures = [1.0, math.nan, math.nan], [math.nan, math.nan, 1.0]
        runs = PairedRuns.from_figures(*figures, higher_is_better=higher_is_better)
        assert runs.differences.tolist() == [-math.inf, math.inf]
        assert runs.lost is not None
        assert runs.lost.tolist() == [0, 1]


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="2 baseline figures cannot pair with 1"):
        PairedRuns.from_figures([1.0, 2.0], [1.0], higher_is_better=True)


@pytest.mark.parametrize("figure", [0.0, -1.0, math.inf])
def test_an_unusable_figure_is_named(figure: float):
    with pytest.raises(ValueError, match=r"other\[1\] is .*, not a positive finite figure"):
        PairedRuns.from_figures([1.0, 1.0], [1.0, figure], higher_is_better=True)
    with pytest.raises(ValueError, match=r"baseline\[0\]"):
        PairedRuns.from_figures([figure, 1.0], [1.0, 1.0], higher_is_better=True)


@given(ratio_lists, st.floats(0.001, 0.5))
def test_the_interval_is_scipys_t_interval(ratios: list[float], alpha: float):
    values = np.array(ratios)
    assume(np.std(values) > 1e-6)
    wanted = scipy.stats.ttest_1samp(values, 0.0).confidence_interval(1 - alpha)
    interval = mean_interval(values, alpha)
    assert (interval.low, interval.high) == pytest.approx(tuple(wanted), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("ratios", [[], [0.3]])
def test_fewer_than_two_ratios_give_no_interval(ratios: list[float]):
    assert mean_interval(np.array(ratios), 0.05) == UNKNOWN


def test_equal_ratios_leave_no_width():
    assert mean_interval(np.array([0.25] * 4), 0.05) == Interval(0.25, 0.25)


def test_fractions_and_mirror():
    interval = Interval(-math.log(1.1), math.log(1.25))
    assert interval.as_fractions() == pytest.approx((1 / 1.1 - 1, 0.25))
    assert interval.mirrored() == Interval(-math.log(1.25), math.log(1.1))
    assert UNKNOWN.as_fractions() == (-1.0, math.inf)
    assert as_fraction(1e4) == math.inf
    assert math.isnan(as_fraction(-math.inf))
