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
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iostudy.analysis.sequential import plan_looks, repeated_alpha, spending_levels

Array = NDArray[np.float64]


class AnalysisMethod(StrEnum):
    """The method of a study's verdicts, as its ledger records it.

    ``NORMAL_SCORES`` tests signed normal scores where these can reach the level, and Student's t
    before. It has one-sided verdicts, and none before each order occurred twice.
    ``ERROR_SPENDING`` is that of earlier ledgers: the same levels for Student's t alone.
    ``CONSTANT_LEVEL`` is that of still earlier ones: an analysis after every block, with one level
    for all of them and for both tests, and no stop for futility.
    """

    NORMAL_SCORES = "signed normal scores"
    ERROR_SPENDING = "error spending"
    CONSTANT_LEVEL = "constant level"


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
    method: AnalysisMethod, min_blocks: int, max_blocks: int, risk: float
) -> Boundaries:
    """Return the boundaries of one comparison with its share of the risk.

    Raises ValueError for an invalid range of blocks or risk.
    """
    match method:
        case AnalysisMethod.CONSTANT_LEVEL:
            looks = plan_looks(min_blocks, max_blocks, growth=0)
            levels = np.full(len(looks), repeated_alpha(min_blocks, max_blocks, risk))
            return Boundaries(looks, levels, levels)
        case AnalysisMethod.NORMAL_SCORES | AnalysisMethod.ERROR_SPENDING:
            looks = plan_looks(min_blocks, max_blocks)
            return Boundaries(
                looks,
                np.array(spending_levels(looks, risk)),
                np.array(spending_levels(looks, 2 * risk)),
            )
