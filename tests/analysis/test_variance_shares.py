"""Shares of the variance that go with covariates, and their selection."""

from __future__ import annotations

import numpy as np
import pytest

from iostudy.analysis.variance_shares import (
    LEVEL,
    _BlockLayout,
    _jackknife_errors,
    measure_variance_shares,
)

BLOCKS, LABELS = 12, 3
SHAPE = (BLOCKS, LABELS)


def positions(generator):
    return generator.permuted(np.tile(np.arange(LABELS, dtype=float), (BLOCKS, 1)), axis=1)


def measured(figures, covariates, generator):
    return measure_variance_shares(figures, covariates, positions(generator))


def test_the_share_is_that_of_the_covariate():
    shares = []
    for seed in range(20):
        draw = np.random.default_rng(seed)
        steal = draw.exponential(size=SHAPE)
        figures = -0.8 * steal + 0.6 * draw.normal(size=SHAPE)
        (found,) = measured(figures, [steal], draw)
        assert found.correlation < -0.4
        assert found.low < found.share < found.high
        shares.append(found.share)
    assert np.mean(shares) == pytest.approx(0.64, abs=0.06)


def test_a_share_that_hangs_on_one_block_is_uncertain():
    draw = np.random.default_rng(7)
    steady, spike = draw.normal(size=SHAPE), 0.01 * draw.normal(size=SHAPE)
    spike[4, 1] = 30.0
    noise = draw.normal(size=SHAPE)
    (certain,) = measured(-3 * steady + noise, [steady], draw)
    (uncertain,) = measured(-0.5 * spike + noise, [spike], draw)
    assert certain.high - certain.low < 0.5
    assert uncertain.high - uncertain.low > 0.9


def test_too_few_blocks_leave_a_share_unknown():
    steal = np.array([[0.0, 3.0], [2.0, 0.0], [0.0, 1.0]])
    layout = _BlockLayout(np.ones(steal.shape, dtype=bool), np.tile([0.0, 1.0], (3, 1)))
    assert _jackknife_errors(layout, -steal, [steal]) == [np.inf]


def test_permutations_that_are_as_extreme_count():
    """A twelfth of all permutations of three blocks has the same correlation, of -1."""
    steal = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    assert measure_variance_shares(-steal, [steal], np.tile([0.0, 1.0], (3, 1))) == []


def test_the_unit_of_a_covariate_does_not_count():
    draw = np.random.default_rng(8)
    steal, other = draw.normal(size=SHAPE), draw.normal(size=SHAPE)
    figures = draw.normal(size=SHAPE) - 2 * steal
    (plain,) = measured(figures, [steal, other], np.random.default_rng(2))
    (scaled,) = measured(figures, [steal / 1e3, 1e3 * other], np.random.default_rng(2))
    assert (scaled.index, scaled.p) == (0, plain.p)
    assert scaled.share == pytest.approx(plain.share)


def test_block_and_configuration_effects_do_not_count():
    draw = np.random.default_rng(1)
    steal, blocks = draw.exponential(size=SHAPE), 100 * draw.normal(size=(BLOCKS, 1))
    labels = 100 * draw.normal(size=(1, LABELS))
    figures = -steal + 0.1 * draw.normal(size=SHAPE)
    (plain,) = measured(figures, [steal], np.random.default_rng(2))
    (shifted,) = measured(figures + blocks + labels, [steal - blocks], np.random.default_rng(2))
    assert shifted.share == pytest.approx(plain.share)


def test_a_covariate_of_whole_blocks_explains_nothing():
    draw = np.random.default_rng(1)
    hour = np.repeat(draw.normal(size=(BLOCKS, 1)), LABELS, axis=1)
    assert not measured(-hour + 0.1 * draw.normal(size=SHAPE), [hour], draw)


def test_correlated_covariates_do_not_count_twice():
    draw = np.random.default_rng(3)
    steal = draw.exponential(size=SHAPE)
    twin = steal + 0.05 * draw.normal(size=SHAPE)
    found = measured(-steal + 0.3 * draw.normal(size=SHAPE), [steal, twin], draw)
    assert sum(own.share for own in found) <= 1


def test_two_causes_share_the_variance():
    draw = np.random.default_rng(4)
    steal, other = draw.normal(size=SHAPE), draw.normal(size=SHAPE)
    found = measured(-steal - other + 0.2 * draw.normal(size=SHAPE), [steal, other], draw)
    shares = {own.index: own.share for own in found}
    assert shares == {0: pytest.approx(0.5, abs=0.2), 1: pytest.approx(0.5, abs=0.2)}
    assert 0.9 < sum(shares.values()) < 1


def test_a_covariate_with_a_positive_effect_is_no_disturbance():
    draw = np.random.default_rng(5)
    dirty = draw.normal(size=SHAPE)
    assert not measured(dirty + 0.1 * draw.normal(size=SHAPE), [dirty], draw)


@pytest.mark.parametrize("size", [1, 8])
def test_chance_names_a_cause_at_most_at_the_level(size):
    draw, named, studies = np.random.default_rng(6), 0, 100
    for _ in range(studies):
        covariates = [draw.exponential(size=SHAPE) for _ in range(size)]
        named += bool(measured(draw.normal(size=SHAPE), covariates, draw))
    assert named <= studies * LEVEL + 3 * np.sqrt(studies * LEVEL)


def test_unknown_trials_do_not_count():
    draw = np.random.default_rng(7)
    steal = draw.exponential(size=SHAPE)
    figures = -steal + 0.2 * draw.normal(size=SHAPE)
    figures[3, 1] = figures[8, 0] = steal[5, 2] = np.nan
    (found,) = measured(figures, [steal], draw)
    assert found.share > 0.8


@pytest.mark.parametrize(
    ("figures", "covariates"),
    [
        (np.zeros(SHAPE), [np.arange(BLOCKS * LABELS, dtype=float).reshape(SHAPE)]),
        (np.arange(BLOCKS * LABELS, dtype=float).reshape(SHAPE), [np.ones(SHAPE)]),
        (np.random.default_rng(1).normal(size=SHAPE), []),
        (np.full(SHAPE, np.nan), [np.ones(SHAPE)]),
        (np.array([[1.0, 2.0]]), [np.array([[2.0, 1.0]])]),
    ],
    ids=["constant figures", "constant covariate", "no covariate", "no trial", "one block"],
)
def test_without_variation_nothing_is_named(figures, covariates):
    order = np.tile(np.arange(figures.shape[1], dtype=float), (len(figures), 1))
    assert measure_variance_shares(figures, covariates, order) == []
