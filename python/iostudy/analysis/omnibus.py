"""Type II F test of each factor of a design, with the error from replicates.

The sum of squares of each factor is adjusted for all other factors and blocks (type II, by
statsmodels). The error is the variation of runs between blocks, not the model's residual, which
would contain interactions. With whole plots there are two strata (Box, Hunter & Hunter 2005,
chapter 9): hard-to-change factors are tested against whole plots x blocks, the others against
runs x blocks within whole plots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from iostudy.analysis.design import Runs

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
            p = float(special.fdtrc(degrees, error_degrees, f))
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
    """The sum of squares and the degrees of freedom of each factor."""
    # Imported here because both take seconds to load. statsmodels needs pandas data.
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    blocks, number = figures.shape
    names = [f"factor{index}" for index in range(runs.shape[1])]
    levels = {name: np.tile(runs[:, index], blocks) for index, name in enumerate(names)}
    block = np.repeat(np.arange(blocks), number)
    data = pd.DataFrame({"x": figures.ravel(), "block": block, **levels})
    terms = " + ".join(f"C({name})" for name in ("block", *names))
    table = anova_lm(ols(f"x ~ {terms}", data).fit(), typ=2)
    rows = [table.loc[f"C({name})"] for name in names]
    return [(float(row["sum_sq"]), int(row["df"])) for row in rows]
