"""Levels of the interim analyses of a comparison, by the method of the study.

A comparison has two tests: whether the difference is zero, two-sided, and whether it is as large as
the margin in either direction. The second is two one-sided tests, each at the whole risk
(Schuirmann 1987): no true difference is both below -margin and above +margin. Its interval has
therefore twice the risk of the other, the 1 - 2a interval.
"""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iostudy.analysis.sequential import plan_looks, repeated_alpha, spend_in_stages, spent

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
class Continuation:
    """The part of the risk that is kept for blocks after the planned ones, in stages.

    Stage 0 is the plan, and ends at its N blocks. Each of the further ``stages`` ends at twice the
    blocks of the one before. All ends are fixed before the first block: a length that depends on
    the data would break the bound of the risk. A stage may spend the risk that is left before it,
    but for the share ``reserve`` of that.
    """

    reserve: float
    stages: int

    def ends(self, max_blocks: int) -> tuple[int, ...]:
        """Return the blocks at the end of every stage of a plan of ``max_blocks``."""
        return tuple(max_blocks << stage for stage in range(self.stages + 1))

    def risks(self, risk: float) -> tuple[float, ...]:
        """Return the risk that may be spent until the end of every stage."""
        return tuple(risk * (1 - self.reserve ** (stage + 1)) for stage in range(self.stages + 1))

    def find_stage(self, blocks: int, max_blocks: int) -> int:
        """Return the stage to which the last of so many blocks belongs."""
        ends = self.ends(max_blocks)
        return min(bisect_left(ends, blocks), self.stages)

    def risk_spent(self, blocks: int, max_blocks: int, risk: float) -> float:
        """Return the part of the risk that may be spent up to so many blocks."""
        stage = self.find_stage(blocks, max_blocks)
        ends, risks = (0, *self.ends(max_blocks)), (0.0, *self.risks(risk))
        share = min(1.0, (blocks - ends[stage]) / (ends[stage + 1] - ends[stage]))
        return risks[stage] + (risks[stage + 1] - risks[stage]) * spent(share)


SPENT = Continuation(0.0, 0)
"""The whole risk is spent at the planned end: no block after it adds a verdict."""
CONTINUABLE = Continuation(0.15, 3)
"""The continuation of new studies: up to eight times the planned blocks."""


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
