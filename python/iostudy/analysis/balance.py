"""Randomisation test of whether a covariate differs between configurations within blocks.

The order of a block is drawn at random, so a disturbance from outside falls on each of its
configurations alike: its values within a block are exchangeable. The test statistic is Friedman's
(1937), from ranks within blocks; its distribution is that of the same ranks reassigned at random
within each block (Edgington & Onghena 2007), so that no approximation for few blocks is needed.
Blocks need not hold every configuration. Draws end early where the p value is clearly large
(Besag & Clifford 1991), and p counts the observed assignment, too (Phipson & Smyth 2010).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SEED = 20_011
"""Fixed: the same trials have the same p value in every report."""
_FIRST_DRAWS, _MORE_DRAWS, _MOST_DRAWS = 1_000, 10_000, 100_000
_ENOUGH_EXCEEDANCES = 10
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Balance:
    """How evenly a covariate fell on the configurations.

    ``p`` is that of the test; ``least_p`` the smallest that so many blocks could give. ``place``
    is the configuration that deviates most, with its mean ``share`` and that of the others in the
    same blocks, ``others``.
    """

    p: float
    least_p: float
    place: int
    share: float
    others: float


def measure_balance(shares: Array, level: float) -> Balance | None:
    """Test blocks x configurations of shares, NaN where unknown; None where nothing differs.

    ``level`` decides how many draws are needed, and nothing else.
    """
    blocks = [_Block.of(row) for row in shares]
    variances, observed = (np.zeros(shares.shape[1]) for _ in range(2))
    for block in blocks:
        variances[block.members] += block.variance
        observed[block.members] += block.scores
    varying = variances > 0
    if not varying.any():
        return None
    sizes = [len(block.members) for block in blocks if block.variance > 0]
    place = int(np.argmax(np.where(varying, observed**2 / np.where(varying, variances, 1), 0)))
    own, others = _means(shares, place)
    return Balance(
        p=_p_value(blocks, observed, variances, level),
        least_p=_least_p(sizes),
        place=place,
        share=own,
        others=others,
    )


@dataclass(frozen=True)
class _Block:
    """Centred mid-ranks of the configurations whose value is known, and the variance of one."""

    members: NDArray[np.intp]
    scores: Array
    variance: float

    @classmethod
    def of(cls, row: Array) -> _Block:
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
    """Statistics under random reassignment within blocks, without end."""
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
    """Sums of ranks, squared and in units of their variances: Friedman's where all are alike."""
    varying = variances > 0
    return np.asarray((sums[:, varying] ** 2 / variances[varying]).sum(axis=1))


def _least_p(sizes: Sequence[int]) -> float:
    """The chance that all blocks order their configurations as the largest of them does."""
    logs = [math.lgamma(size + 1) for size in sizes]
    return math.exp(max(logs) - math.fsum(logs))


def _means(shares: Array, place: int) -> tuple[float, float]:
    """Means over the blocks that know the configuration and another one."""
    others = np.delete(shares, place, axis=1)
    common = ~np.isnan(shares[:, place]) & ~np.isnan(others).all(axis=1)
    if not common.any():
        return math.nan, math.nan
    return float(shares[common, place].mean()), float(np.nanmean(others[common], axis=1).mean())
