"""How good each candidate is by the blocks it was in, and how sure that is.

In block b candidate c has the paired log-ratio r_cb = x_cb - x_0b to the default 0, with
x = block_b + effect_c + e. It is estimated by the mean of its own n_c ratios. The default's noise
is part of every ratio of a block, so that two candidates with m blocks in common have

    Var(mean_c) = 2 s^2 / n_c,    Cov(mean_c, mean_j) = s^2 m / (n_c n_j)

with s^2 the variance of a single trial. In a difference of two candidates the default's noise thus
cancels as far as they were in the same blocks: with all of them in common it is that of their own
pairs, 2 s^2 / n.

s^2 is what the additive model leaves of all trials, the default's included: the residual of the
least squares fit of a two-way layout with empty cells (Searle, Linear Models, 1971). So a candidate
that was in a single block has an error, too, taken from the others. Workloads are combined by their
weights, with Satterthwaite's (1946) degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimates:
    """Mean log-ratios of candidates, NaN without a block.

    ``on``: workloads x candidates. ``factors`` times ``noise``, the variance of a trial on each
    workload, is the covariance of each row: workloads x candidates x candidates. The noise is NaN
    where it has no degree of ``freedom``. ``shares``: weights of workloads, summing to 1.
    """

    on: Array
    factors: Array
    noise: Array
    freedom: Array
    shares: Array

    @property
    def value(self) -> Array:
        """Of each candidate, over all workloads."""
        return np.asarray(self.shares @ self.on)

    @property
    def covariance(self) -> Array:
        """Of ``value``: candidates x candidates; NaN without a noise."""
        return np.asarray(np.tensordot(self.shares**2 * self.noise, self.factors, axes=1))

    @property
    def errors_on(self) -> Array:
        """Standard errors of ``on``."""
        return np.sqrt(self.noise[:, None] * np.diagonal(self.factors, axis1=1, axis2=2))

    def upper_on(self, level: float) -> Array:
        """One-sided upper ends of ``on``; infinite where the noise is not known."""
        quantile = -special.stdtrit(np.maximum(self.freedom, 1), level)[:, None]
        ends = self.on + quantile * self.errors_on
        return np.where(self.freedom[:, None] > 0, ends, np.inf)

    def upper(self, candidate: int, other: int | None, level: float) -> float:
        """The one-sided upper end of how much better a candidate is than another or the default.

        Infinite where the noise is not known.
        """
        if not self.freedom.all():
            return np.inf
        contrast = np.zeros(self.on.shape[1])
        contrast[candidate] = 1
        if other is not None:
            contrast[other] = -1
        parts = self.shares**2 * self.noise * (self.factors @ contrast @ contrast)
        lost = float((parts**2 / self.freedom).sum())
        # Without any spread the interval has no width, whatever the degrees of freedom.
        freedom = float(parts.sum()) ** 2 / lost if lost > 0 else 1.0
        half = -float(special.stdtrit(freedom, level)) * float(np.sqrt(parts.sum()))
        return float(np.nan_to_num(self.value) @ contrast) + half


def estimate(ratios: Array, shares: Array) -> Estimates:
    """From ratios as workloads x candidates x blocks, NaN for what was not run."""
    run = np.isfinite(ratios).astype(np.float64)
    count = run.sum(axis=2)
    held = np.maximum(count, 1)
    sums = np.nan_to_num(ratios).sum(axis=2)
    common = run @ run.transpose(0, 2, 1) + count[:, :, None] * np.eye(count.shape[1])
    variances, freedoms = zip(*(noise(own) for own in ratios), strict=True)
    return Estimates(
        on=np.where(count > 0, sums / held, np.nan),
        factors=common / (held[:, :, None] * held[:, None, :]),
        noise=np.array(variances),
        freedom=np.array(freedoms, dtype=np.float64),
        shares=shares,
    )


def noise(ratios: Array) -> tuple[float, int]:
    """The variance of a trial on one workload, and its degrees of freedom; (NaN, 0) without any.

    The residual of trials = blocks + candidates, from candidates x blocks with NaN for what was not
    run. With the candidates eliminated from the normal equations, those of the blocks are left.
    """
    present = np.isfinite(ratios)
    kept = np.ix_(present.any(axis=1), present.any(axis=0))
    # The default is the first row: in every block, with nothing as its ratio to itself.
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
