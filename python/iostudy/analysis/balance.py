"""Randomisation test for a covariate imbalance between configurations within blocks.

The order of a block is random, so the values of an external disturbance are exchangeable within a
block. The statistic is that of the Friedman test (1937), from ranks within blocks. Its reference
distribution is that of the same ranks reassigned at random within each block (Edgington & Onghena
2007), which is exact for few blocks. Blocks may lack configurations. Sampling stops early where the
p value is clearly large (Besag & Clifford 1991), and p includes the observed assignment (Phipson &
Smyth 2010).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SEED = 20_011
"""Fixed seed: the same trials have the same p value in every report."""
_FIRST_DRAWS, _MORE_DRAWS, _MOST_DRAWS = 1_000, 10_000, 100_000
_ENOUGH_EXCEEDANCES = 10
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Balance:
    """The balance of a covariate between configurations.

    ``p`` is the p value of the test, ``minimum_p`` the smallest possible one with these blocks.
    ``configuration`` is the index of the one that deviates most, ``mean`` its mean share, and
    ``mean_of_others`` that of the others in the same blocks.
    """

    p: float
    minimum_p: float
    configuration: int
    mean: float
    mean_of_others: float


def measure_balance(shares: Array, level: float) -> Balance | None:
    """Test blocks x configurations of shares, NaN where unknown; None where all are equal.

    ``level`` only determines the number of random draws.
    """
    blocks = [_Block.from_row(row) for row in shares]
    variances, observed = (np.zeros(shares.shape[1]) for _ in range(2))
    for block in blocks:
        variances[block.members] += block.variance
        observed[block.members] += block.scores
    varying = variances > 0
    if not varying.any():
        return None
    sizes = [len(block.members) for block in blocks if block.variance > 0]
    index = int(np.argmax(np.where(varying, observed**2 / np.where(varying, variances, 1), 0)))
    mean, mean_of_others = _means(shares, index)
    return Balance(
        p=_p_value(blocks, observed, variances, level),
        minimum_p=_minimum_p(sizes),
        configuration=index,
        mean=mean,
        mean_of_others=mean_of_others,
    )


@dataclass(frozen=True)
class _Block:
    """Centred mid-ranks of the configurations with a known value, and their variance."""

    members: NDArray[np.intp]
    scores: Array
    variance: float

    @classmethod
    def from_row(cls, row: Array) -> _Block:
        members = np.flatnonzero(~np.isnan(row))
        values = row[members]
        below = (values[:, None] > values[None, :]).sum(axis=1)
        equal = (values[:, None] == values[None, :]).sum(axis=1)
        ranks = below + (equal + 1) / 2
        scores = ranks - ranks.mean() if len(ranks) else ranks
        return cls(members, scores, float((scores**2).mean()) if len(scores) else 0.0)


def _p_value(blocks: Sequence[_Block], observed: Array, variances: Array, level: float) -> float:
    limit = _statistic(observed[None, :], variances)[0] * (1 - _ROUNDING)
    needed = min(_MOST_DRAWS, math.ceil(2 * _ENOUGH_EXCEEDANCES / level))
    exceeded = drawn = 0
    for statistics in _draws(blocks, variances):
        exceeded += int((statistics >= limit).sum())
        drawn += len(statistics)
        if exceeded >= _ENOUGH_EXCEEDANCES or drawn >= needed:
            break
    return (exceeded + 1) / (drawn + 1)


def _draws(blocks: Sequence[_Block], variances: Array) -> Iterator[Array]:
    """Yield statistics under random reassignment within blocks, without end."""
    generator, number = np.random.default_rng(_SEED), _FIRST_DRAWS
    while True:
        sums = np.zeros((number, len(variances)))
        for block in blocks:
            if block.variance > 0:
                scores = np.broadcast_to(block.scores, (number, len(block.scores)))
                sums[:, block.members] += generator.permuted(scores, axis=1)
        yield _statistic(sums, variances)
        number = _MORE_DRAWS


def _statistic(sums: Array, variances: Array) -> Array:
    """Squared rank sums over their variances: Friedman's statistic where variances are equal."""
    varying = variances > 0
    return np.asarray((sums[:, varying] ** 2 / variances[varying]).sum(axis=1))


def _minimum_p(sizes: Sequence[int]) -> float:
    """The probability that all blocks have the same order of configurations."""
    logs = [math.lgamma(size + 1) for size in sizes]
    return math.exp(max(logs) - math.fsum(logs))


def _means(shares: Array, index: int) -> tuple[float, float]:
    """Means over the blocks with values of the configuration and of another one."""
    others = np.delete(shares, index, axis=1)
    common = ~np.isnan(shares[:, index]) & ~np.isnan(others).all(axis=1)
    if not common.any():
        return math.nan, math.nan
    return float(shares[common, index].mean()), float(np.nanmean(others[common], axis=1).mean())
