"""Type II F test of each factor of a design, with the error from replicates.

The sum of squares of each factor is adjusted for all other factors and blocks (type II). The error
is the variation of runs between blocks, not the model's residual, which would contain interactions.
With whole plots there are two strata (Box, Hunter & Hunter 2005,
chapter 9): hard-to-change factors are tested against whole plots x blocks, the others against
runs x blocks within whole plots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.distributions import f_tail
from iostudy_search.screening.designs import Runs

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FactorTest:
    """The F test of one factor, by its index; ``p`` is not adjusted for interim analyses."""

    factor: int
    f: float
    degrees: int
    error_degrees: int
    p: float


def compute_f_tests(figures: Array, runs: Runs, hard: Sequence[int]) -> tuple[FactorTest, ...]:
    """Test every factor whose error can be estimated; none with fewer than two blocks.

    ``figures`` are s ln y, blocks x runs; ``hard`` are the hard-to-change factors, which define
    the whole plots.
    """
    if len(figures) < 2:
        return ()
    plots = np.unique(runs[:, list(hard)], axis=0, return_inverse=True)[1].ravel()
    between, within = _error_strata(figures, plots)
    tests = []
    for factor, (squares, degrees) in enumerate(_type_two_sums(figures, runs)):
        error, error_degrees = between if factor in hard else within
        if error > 0 and error_degrees > 0:
            f = (squares / degrees) / (error / error_degrees)
            p = float(f_tail(degrees, error_degrees, f))
            tests.append(FactorTest(factor, f, degrees, error_degrees, p))
    return tuple(tests)


def _error_strata(
    figures: Array, plots: NDArray[np.intp]
) -> tuple[tuple[float, int], tuple[float, int]]:
    """Sums of squares and degrees of freedom: whole plots x blocks, and within whole plots."""
    blocks, runs = figures.shape
    number = int(plots.max()) + 1
    means = np.stack([figures[:, plots == plot].mean(axis=1) for plot in range(number)], axis=1)
    sizes = np.bincount(plots)
    by_block = figures.mean(axis=1, keepdims=True)
    across = means - by_block - means.mean(axis=0) + by_block.mean()
    inner = figures - means[:, plots] - figures.mean(axis=0) + means.mean(axis=0)[plots]
    between = float((sizes * across**2).sum()), (blocks - 1) * (number - 1)
    return between, (float((inner**2).sum()), (blocks - 1) * (runs - number))


def _type_two_sums(figures: Array, runs: Runs) -> list[tuple[float, int]]:
    """The sum of squares and the degrees of freedom of each factor.

    Without interactions in the model, the sum is the residual that the factor removes from a model
    of all other factors and blocks.
    """
    blocks, number = figures.shape
    levels = [np.tile(runs[:, index], blocks) for index in range(runs.shape[1])]
    terms = [_dummies(column) for column in (np.repeat(np.arange(blocks), number), *levels)]
    whole, rank = _fit(figures.ravel(), terms)
    without = [_fit(figures.ravel(), terms[: 1 + k] + terms[2 + k :]) for k in range(len(levels))]
    return [(residual - whole, rank - rank_without) for residual, rank_without in without]


def _dummies(levels: NDArray[np.int64]) -> Array:
    """Columns of treatment coding: an indicator of each level but the first."""
    return np.asarray(levels[:, None] == np.unique(levels)[1:], dtype=np.float64)


def _fit(values: Array, terms: Sequence[Array]) -> tuple[float, int]:
    """The residual sum of squares of least squares with an intercept, and the rank."""
    model = np.column_stack([np.ones(len(values)), *terms])
    coefficients, _, rank, _ = np.linalg.lstsq(model, values)
    return float(((values - model @ coefficients) ** 2).sum()), int(rank)
