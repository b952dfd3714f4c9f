import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from iostudy.analysis import series
from iostudy.analysis.series import LEVEL, FamilyOfTests, Flag, flag_figures, flag_pairs

ALONE = FamilyOfTests(series=1, pairs=1)
draw = np.random.default_rng(1)
QUIET = draw.standard_normal(40)


class FixedLevel(FamilyOfTests):
    """A level of its own."""

    def __init__(self, level: float) -> None:
        object.__setattr__(self, "own", level)

    @property
    def level(self) -> float:
        return self.own  # type: ignore[attr-defined,no-any-return]


def test_the_level_is_shared_by_all_tests():
    assert FamilyOfTests(1, 0).level == LEVEL / 2
    assert FamilyOfTests(2, 3).level == LEVEL / (2 * 2 + 3 * 4)
    assert FamilyOfTests(0, 0).level == LEVEL


def test_a_trend_is_drift_whatever_the_configurations_differ_by():
    groups = np.tile([0, 1], 20)
    trend = 0.05 * QUIET + np.linspace(0, 1, 40) + 7 * groups
    assert flag_figures(trend, groups, ALONE) == (Flag.DRIFT,)
    assert flag_figures(0.05 * QUIET + 7 * groups, groups, ALONE) == ()


def test_the_trend_adjusted_for_groups_is_that_of_a_regression():
    groups = np.array([0, 1, 1, 0, 2, 0, 1, 2, 0, 0, 1, 2])
    values = QUIET[:12] + 0.3 * np.arange(12)
    design = np.column_stack([*(groups == g for g in range(3)), np.arange(12)]).astype(float)
    beta, (square,), *_ = np.linalg.lstsq(design, values, rcond=None)
    error = np.sqrt(square / (12 - 4) * np.linalg.inv(design.T @ design)[3, 3])
    p = 2 * scipy.stats.t.sf(abs(beta[3]) / error, 12 - 4)
    below, above = (FixedLevel(factor * p) for factor in (0.999, 1.001))
    assert Flag.DRIFT not in flag_figures(values, groups, below)
    assert Flag.DRIFT in flag_figures(values, groups, above)


def test_autocorrelated_neighbours():
    wave = np.sin(np.arange(40) / 3)
    assert flag_figures(wave, np.zeros(40), ALONE) == (Flag.AUTOCORRELATION,)
    assert flag_pairs(np.zeros(40), wave + 0.01 * QUIET, ALONE)[:1] == (
        Flag.AUTOCORRELATED_DIFFERENCES,
    )


def test_a_difference_that_grows():
    other = 0.05 * QUIET[::-1] + np.linspace(0, 1, 40)
    assert flag_pairs(0.05 * QUIET, other, ALONE)[0] is Flag.DRIFTING_DIFFERENCE


def test_skewed_differences():
    common = 3 * draw.standard_normal(40)
    other = common + 0.1 * QUIET
    other[[3, 17]] -= 3
    assert Flag.SKEWED_DIFFERENCES in flag_pairs(common, other, ALONE)


@pytest.mark.parametrize("count", [8, 9, 40])
def test_the_test_of_skew_is_scipys(count: int):
    ratios = QUIET[:count] ** 3 + QUIET[:count]
    p = float(scipy.stats.skewtest(ratios).pvalue)
    assert Flag.SKEWED_DIFFERENCES not in flag_pairs(
        np.zeros(count), ratios, FixedLevel(p * (1 - 1e-9))
    )
    assert Flag.SKEWED_DIFFERENCES in flag_pairs(
        np.zeros(count), ratios, FixedLevel(p * (1 + 1e-9))
    )


def test_ranks_are_scipys_where_some_are_equal_too():
    values = np.round(QUIET, 1)
    assert len(np.unique(values)) < len(values)
    assert series._ranks(values).tolist() == scipy.stats.rankdata(values).tolist()


def test_one_side_with_more_noise():
    steady = 0.1 * QUIET
    assert flag_pairs(steady, draw.standard_normal(40), ALONE) == (Flag.UNEQUAL_VARIANCES,)


@given(st.integers(0, 4))
def test_a_short_series_passes(count: int):
    ramp = np.arange(count, dtype=float)
    assert flag_figures(ramp, np.zeros(count), ALONE) == ()
    assert flag_pairs(np.zeros(count), ramp**2, ALONE) == ()


@pytest.mark.parametrize("count", [5, 8, 12])
def test_equal_values_have_no_flag(count: int):
    same = np.ones(count)
    assert flag_figures(same, np.zeros(count), ALONE) == ()
    assert flag_pairs(same, 2 * same, ALONE) == ()


def test_the_ratio_of_ranks_is_that_of_bartels():
    # Under the null its p values are uniform: the beta distribution is the right one.
    p = [
        Flag.AUTOCORRELATION
        in flag_figures(np.random.default_rng(n).random(20), np.zeros(20), ALONE)
        for n in range(2000)
    ]
    assert np.mean(p) <= ALONE.level + 3 * np.sqrt(ALONE.level / 2000)


@pytest.mark.parametrize("blocks", [5, 8, 10, 30])
@pytest.mark.parametrize("figure", [1e-7, 0.1, 7.7, 123.456])
def test_the_last_bits_of_what_does_not_vary_raise_no_flag(figure: float, blocks: int):
    shared = figure * np.random.default_rng(blocks).lognormal(size=blocks)
    assert flag_pairs(np.log(shared), np.log(1.1 * shared), ALONE) == ()
    same = np.full(blocks, figure)
    assert flag_pairs(np.log(same), np.log(1.5 * same), ALONE) == ()
    groups = np.tile([0, 1], blocks)
    assert flag_figures(np.log(figure * (1 + 0.1 * groups)), groups, ALONE) == ()
