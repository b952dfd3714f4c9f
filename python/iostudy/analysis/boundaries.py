"""Levels of the interim analyses of a comparison, by the method of the study.

A comparison has two tests: whether the difference is zero, two-sided, and whether it is as large as
the margin in either direction. The second is two one-sided tests, each at the whole risk
(Schuirmann 1987): no true difference is both below -margin and above +margin. Its interval has
therefore twice the risk of the other, the 1 - 2a interval.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iostudy.analysis.sequential import plan_looks, repeated_alpha, spend_in_stages
from iostudy.analysis.spending import SPENT, AnalysisMethod, Continuation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Boundaries:
    """The two-sided levels of the tests for difference and for equivalence at each analysis.

    ``looks`` are the numbers of blocks of the analyses.
    """

    looks: tuple[int, ...]
    difference: Array
    equivalence: Array

    def last_look(self, blocks: int) -> int:
        """Return the blocks of the last analysis; before the first one, the blocks themselves."""
        index = bisect_right(self.looks, blocks)
        return self.looks[index - 1] if index else blocks

    def difference_level(self, blocks: ArrayLike) -> Array:
        """Return the level of the last analysis, elementwise; that of the first before it."""
        return np.asarray(self.difference[self._indexes(blocks)])

    def equivalence_level(self, blocks: ArrayLike) -> Array:
        """Return the same for equivalence."""
        return np.asarray(self.equivalence[self._indexes(blocks)])

    def _indexes(self, blocks: ArrayLike) -> NDArray[np.intp]:
        return np.maximum(np.searchsorted(self.looks, blocks, side="right") - 1, 0)


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
                spend_in_stages(stages, continuation.risks(own)[: stage + 1]).levels
                for own in (risk, 2 * risk)
            )
            looks = tuple(chain.from_iterable(stages))
            return Boundaries(looks, np.array(difference), np.array(equivalence))
