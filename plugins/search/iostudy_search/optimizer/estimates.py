"""Estimates of candidates with their covariance, from incomplete blocks.

In block b candidate c has the paired log-ratio r_cb = x_cb - x_0b to the default 0, with
x = block_b + effect_c + e. The estimate is the mean of its n_c ratios. Every ratio of a block
contains the default's noise, so that two candidates with m common blocks have

    Var(mean_c) = 2 s^2 / n_c,    Cov(mean_c, mean_j) = s^2 m / (n_c n_j)

with s^2 the variance of a single trial. In a difference of two candidates the default's noise
cancels in their common blocks. If all are common, the variance is that of pairs, 2 s^2 / n.

s^2 is the residual variance of the additive model of all trials, the default's included: the least
squares fit of a two-way layout with empty cells (Searle, Linear Models, 1971). A candidate of a
single block therefore has an error, too. Workloads are combined by their weights, with
Satterthwaite's (1946) degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.distributions import t_quantile

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CandidateEstimates:
    """Mean log-ratios of candidates, NaN without a block.

    ``on``: workloads x candidates. ``factors`` times ``variance``, that of a trial on each
    workload, is the covariance of each row: workloads x candidates x candidates. The noise is NaN
    where it has no degree of ``freedom``. ``shares``: weights of workloads, summing to 1.
    """

    by_workload: Array
    covariance_factors: Array
    variance: Array
    freedom: Array
    weights: Array

    @property
    def value(self) -> Array:
        """The weighted mean of each candidate over all workloads."""
        return np.asarray(self.weights @ self.by_workload)

    @property
    def covariance(self) -> Array:
        """The covariance of ``value``: candidates x candidates; NaN without a variance."""
        return np.asarray(
            np.tensordot(self.weights**2 * self.variance, self.covariance_factors, axes=1)
        )

    @property
    def standard_errors(self) -> Array:
        """The standard errors of ``by_workload``."""
        return np.sqrt(
            self.variance[:, None] * np.diagonal(self.covariance_factors, axis1=1, axis2=2)
        )

    def upper_bounds(self, level: float) -> Array:
        """Return one-sided upper bounds of ``by_workload``; infinite without a variance."""
        quantile = -t_quantile(np.maximum(self.freedom, 1), level)[:, None]
        ends = self.by_workload + quantile * self.standard_errors
        return np.where(self.freedom[:, None] > 0, ends, np.inf)

    def upper_bound(self, candidate: int, other: int | None, level: float) -> float:
        """Return the one-sided upper bound of a candidate's gain over another or the default.

        Infinite without a variance.
        """
        if not self.freedom.all():
            return np.inf
        contrast = np.zeros(self.by_workload.shape[1])
        contrast[candidate] = 1
        if other is not None:
            contrast[other] = -1
        parts = self.weights**2 * self.variance * (self.covariance_factors @ contrast @ contrast)
        lost = float((parts**2 / self.freedom).sum())
        # Without any spread the interval has no width, whatever the degrees of freedom.
        freedom = float(parts.sum()) ** 2 / lost if lost > 0 else 1.0
        half = -float(t_quantile(freedom, level)) * float(np.sqrt(parts.sum()))
        return float(np.nan_to_num(self.value) @ contrast) + half


def estimate_candidates(ratios: Array, shares: Array) -> CandidateEstimates:
    """Estimate candidates from ratios as workloads x candidates x blocks, NaN where not run."""
    run = np.isfinite(ratios).astype(np.float64)
    count = run.sum(axis=2)
    held = np.maximum(count, 1)
    sums = np.nan_to_num(ratios).sum(axis=2)
    common = run @ run.transpose(0, 2, 1) + count[:, :, None] * np.eye(count.shape[1])
    variances, freedoms = zip(*(residual_variance(series) for series in ratios), strict=True)
    return CandidateEstimates(
        by_workload=np.where(count > 0, sums / held, np.nan),
        covariance_factors=common / (held[:, :, None] * held[:, None, :]),
        variance=np.array(variances),
        freedom=np.array(freedoms, dtype=np.float64),
        weights=shares,
    )


def residual_variance(ratios: Array) -> tuple[float, int]:
    """Return the variance of a trial on one workload and its degrees of freedom, or (NaN, 0).

    The residual of trials = blocks + candidates, from candidates x blocks with NaN where not run.
    The candidates are eliminated from the normal equations.
    """
    present = np.isfinite(ratios)
    kept = np.ix_(present.any(axis=1), present.any(axis=0))
    # The default is the first row: in every block, with a ratio of 0 to itself.
    run = np.vstack([np.ones(kept[1].size), present[kept]])
    figures = np.vstack([np.zeros(kept[1].size), np.where(present, ratios, 0)[kept]])
    freedom = int(run.sum()) - run.shape[0] - run.shape[1] + 1
    if freedom < 1:
        return np.nan, 0
    count = run.sum(axis=1)
    left = np.diag(run.sum(axis=0)) - run.T @ (run / count[:, None])
    right = figures.sum(axis=0) - run.T @ (figures.sum(axis=1) / count)
    # Only differences of blocks are determined: that of the first is 0.
    block = np.r_[0.0, np.linalg.solve(left[1:, 1:], right[1:])]
    effect = (figures.sum(axis=1) - run @ block) / count
    residual = run * (figures - effect[:, None] - block)
    return float((residual**2).sum()) / freedom, freedom
