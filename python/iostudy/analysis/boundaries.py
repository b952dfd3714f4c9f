"""Levels of the interim analyses of a comparison, and the probability that they decide it.

A comparison has two tests: whether the difference is zero, two-sided, and whether it is as large as
the margin in either direction. The second is two one-sided tests, each at the whole risk
(Schuirmann 1987): no true difference is both below -margin and above +margin. Its interval has
therefore twice the risk of the other, the 1 - 2a interval.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import ArrayLike

from iostudy.analysis.distributions import Array, t_cdf, t_quantile
from iostudy.analysis.sequential import plan_looks, repeated_alpha, spend_in_stages
from iostudy.analysis.spending import SPENT, AnalysisMethod, Continuation


@dataclass(frozen=True)
class Boundaries:
    """The two-sided levels of the tests for difference and for equivalence at each analysis.

    ``looks`` are the numbers of blocks of the analyses.
    """

    looks: tuple[int, ...]
    difference: Array
    equivalence: Array

    def level(self, blocks: int, *, equivalence: bool) -> float:
        """Return the level of the last analysis; that of the first before it."""
        levels = self.equivalence if equivalence else self.difference
        return float(levels[max(bisect_right(self.looks, blocks) - 1, 0)])


@functools.cache
def build_boundaries(
    method: AnalysisMethod,
    min_blocks: int,
    max_blocks: int,
    risk: float,
    continuation: Continuation = SPENT,
    stage: int = 0,
) -> Boundaries:
    """Return the boundaries of one comparison with its share of the risk, up to a stage's end.

    Raises ValueError for an invalid range of blocks or risk.
    """
    match method:
        case AnalysisMethod.CONSTANT_LEVEL:
            looks = plan_looks(min_blocks, max_blocks, growth=0)
            levels = np.full(len(looks), repeated_alpha(min_blocks, max_blocks, risk))
            return Boundaries(looks, levels, levels)
        case AnalysisMethod.NORMAL_SCORES | AnalysisMethod.ERROR_SPENDING:
            ends = continuation.ends(max_blocks)[: stage + 1]
            further = (plan_looks(before, end)[1:] for before, end in pairwise(ends))
            stages = (plan_looks(min_blocks, max_blocks), *further)
            difference, equivalence = (
                spend_in_stages(stages, continuation.risks(alpha)[: stage + 1]).levels
                for alpha in (risk, 2 * risk)
            )
            looks = tuple(chain.from_iterable(stages))
            return Boundaries(looks, np.array(difference), np.array(equivalence))


FUTILITY = 0.05
"""A comparison stops if its probability of a verdict is less than this."""


def predictive_probability(
    mean: ArrayLike,
    sd: ArrayLike,
    count: ArrayLike,
    boundaries: Boundaries,
    delta: float,
    bias: float = 0.0,
    *,
    one_sided: ArrayLike = False,
) -> Array:
    """Return the probability of a verdict at the last analysis, elementwise.

    Given ``count`` of N blocks, the mean of all N has the predictive distribution
    t(count - 1) with centre ``mean`` and scale sd sqrt(1/count - 1/N), for a flat prior of the
    difference (Spiegelhalter, Freedman & Blackburn 1986). Its intervals have the widths of ``sd``.
    ``sd`` must be above 0, and ``count`` from 2 to N - 1. ``bias`` widens the intervals. Where
    ``one_sided`` is true, "not worse" and "not better" are verdicts, too.
    """
    mean, sd, count = (np.asarray(value, dtype=np.float64) for value in (mean, sd, count))
    last = boundaries.looks[-1]

    def half_width(level: float) -> Array:
        quantile = -t_quantile(last - 1, level / 2)
        return np.asarray(quantile * sd / math.sqrt(last) + bias)

    different = half_width(boundaries.difference[-1])
    inner = half_width(boundaries.equivalence[-1])
    within = np.clip(delta - inner, 0.0, different)
    apart = np.where(one_sided, np.clip(inner - delta, 0.0, different), different)
    within = np.minimum(within, apart)
    apart, within, mean = np.broadcast_arrays(apart, within, mean)
    limits = np.array([-apart, apart, within, -within])
    below = t_cdf(count - 1, (limits - mean) / (sd * np.sqrt(1 / count - 1 / last)))
    return np.asarray(below[0] + 1 - below[1] + below[2] - below[3])
