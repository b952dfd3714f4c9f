"""Randomisation test of covariates: exact by enumeration, at its level, with power."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from iostudy.analysis.balance import measure_balance

LEVEL = 0.002
NOTHING = float("nan")


def enumerated(shares: np.ndarray) -> float:
    """p of Friedman's statistic over every assignment within blocks; no ties."""
    ranks = shares.argsort(axis=1).argsort(axis=1) + 1.0
    orders = list(permutations(range(1, shares.shape[1] + 1)))
    sums = np.array([np.sum(own, axis=0) for own in product(orders, repeat=len(shares))])
    mean = sums.mean()
    statistics = ((sums - mean) ** 2).sum(axis=1)
    return float((statistics >= ((ranks.sum(axis=0) - mean) ** 2).sum() - 1e-9).mean())


@pytest.mark.parametrize("seed", range(4))
def test_p_is_that_of_every_assignment_within_blocks(seed):
    draw = np.random.default_rng(seed)
    shares = draw.random((4, 3)) + np.array([0.0, 0.1, 0.5])
    found = measure_balance(shares, LEVEL)
    exact = enumerated(shares)
    assert found.p == pytest.approx(exact, abs=4 * np.sqrt(exact / 1000))


def test_the_configuration_that_deviates_is_named_with_its_share_and_the_others():
    shares = np.tile([0.1, 0.4, 0.2, 0.1], (8, 1)) + np.random.default_rng(1).random((8, 4)) / 50
    found = measure_balance(shares, LEVEL)
    assert found.p < LEVEL
    assert found.configuration == 1
    assert found.mean == pytest.approx(shares[:, 1].mean())
    assert found.mean_of_others == pytest.approx(shares[:, [0, 2, 3]].mean())


def test_few_blocks_of_two_configurations_cannot_show_an_imbalance():
    shares = np.tile([0.0, 0.9], (5, 1))
    found = measure_balance(shares, LEVEL)
    assert found.p > LEVEL
    assert found.minimum_p == pytest.approx(2 / 2**5)


def test_blocks_without_a_configuration_that_was_decided_count_for_the_others():
    shares = np.tile([0.1, 0.2, 0.3], (12, 1))
    shares[5:, 1] = NOTHING
    found = measure_balance(shares, LEVEL)
    assert found.p < LEVEL
    assert found.configuration in (0, 2)


@pytest.mark.parametrize(
    "shares",
    [np.zeros((9, 3)), np.full((9, 3), NOTHING), np.zeros((0, 3)), np.ones((9, 1))],
    ids=["equal", "unknown", "no block", "one configuration"],
)
def test_equal_covariates_are_not_tested(shares):
    assert measure_balance(shares, LEVEL) is None


def test_the_same_trials_have_the_same_p():
    shares = np.random.default_rng(3).random((10, 4))
    assert measure_balance(shares, LEVEL) == measure_balance(shares, LEVEL)


@pytest.mark.parametrize("shape", ["even", "rare and large"])
def test_a_disturbance_independent_of_configurations_is_seldom_called_imbalanced(shape):
    """A disturbance that changes from block to block, and falls on the trials by chance."""
    draw, studies, level = np.random.default_rng(7), 400, 0.05
    raised = 0
    for _ in range(studies):
        shares = draw.exponential(0.2, (8, 1)) * draw.random((8, 4))
        if shape != "even":
            shares *= draw.random((8, 4)) < 0.3
        found = measure_balance(shares, level)
        raised += found is not None and found.p < level
    assert raised <= studies * level + 3 * np.sqrt(studies * level)


def test_a_disturbance_of_one_configuration_is_found():
    draw, found = np.random.default_rng(8), 0
    for _ in range(100):
        shares = draw.normal(0.2, 0.05, (15, 4)) + np.array([0.0, 0.1, 0.0, 0.0])
        found += measure_balance(shares, LEVEL).p < LEVEL
    assert found > 80
