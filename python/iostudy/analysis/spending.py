"""Method of a study's analyses, and the risk that it spends by them.

Studies name the method before any statistics are computed, so that nothing here needs numpy.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from enum import StrEnum

_EARLY_SHARE, _LATE_POWER = 0.3, 8


def spent(share: float) -> float:
    """Return the share of the risk that is spent up to this share of the blocks."""
    return _EARLY_SHARE * share + (1 - _EARLY_SHARE) * share**_LATE_POWER


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
