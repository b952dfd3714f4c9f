"""Decision rule of a study: margin, risk, blocks, and the levels of its analyses."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass

from iostudy.analysis import sequential
from iostudy.analysis.boundaries import Boundaries, build_boundaries
from iostudy.analysis.distributions import normal_quantile, t_quantile
from iostudy.analysis.spending import SPENT, AnalysisMethod, Continuation

POWER = 0.8


@dataclass(frozen=True)
class Rule:
    """The decision rule. ``margin`` and ``risk`` are fractions; ``risk`` covers the whole study.

    ``comparisons`` is the number of verdicts in the study. They share the risk equally
    (Bonferroni). ``bias`` is the largest bias of an estimate, a log-ratio; every interval is wider
    by it on both sides. ``rare`` is the largest share of slow runs of a configuration that is
    equivalent or not worse; None allows any. ``max_blocks`` are the planned blocks, which the
    ``continuation`` extends.
    """

    margin: float
    risk: float
    min_blocks: int
    max_blocks: int
    comparisons: int = 1
    method: AnalysisMethod = AnalysisMethod.NORMAL_SCORES
    bias: float = 0.0
    rare: float | None = None
    continuation: Continuation = SPENT

    @property
    def delta(self) -> float:
        """The margin as a log-ratio."""
        return math.log1p(self.margin)

    @property
    def share(self) -> float:
        """The risk of one comparison."""
        return self.risk / self.comparisons

    @property
    def boundaries(self) -> Boundaries:
        """The analyses of the planned blocks with the levels of their intervals."""
        return self.boundaries_of(self.max_blocks)

    def boundaries_of(self, blocks: int) -> Boundaries:
        """Return the analyses up to the end of the stage to which so many blocks belong."""
        stage = self.continuation.find_stage(blocks, self.max_blocks)
        planned = self.min_blocks, self.max_blocks
        return build_boundaries(self.method, *planned, self.share, self.continuation, stage)

    def last_look(self, blocks: int) -> int:
        """Return the blocks of the last analysis; before the first one, the blocks themselves."""
        looks = self.boundaries_of(blocks).looks
        index = bisect_right(looks, blocks)
        return looks[index - 1] if index else blocks

    @property
    def longest(self) -> int:
        """The blocks at the end of the last stage."""
        return self.continuation.ends(self.max_blocks)[-1]

    def repeated_alpha(self, blocks: int) -> float:
        """Return a*, the level of intervals that no comparison stops by, after so many blocks.

        It is the same for all numbers of blocks of a stage. The stages share the risk (Bonferroni).
        """
        stage = self.continuation.find_stage(blocks, self.max_blocks)
        ends = self.min_blocks - 1, *self.continuation.ends(self.max_blocks)
        risks = 0.0, *self.continuation.risks(self.share)
        first = self.min_blocks if stage == 0 else ends[stage] + 1
        return sequential.repeated_alpha(first, ends[stage + 1], risks[stage + 1] - risks[stage])

    @property
    def by_scores(self) -> bool:
        """Whether normal scores decide, and not Student's t alone as in earlier ledgers."""
        return self.method is AnalysisMethod.NORMAL_SCORES

    def risk_spent(self, blocks: int) -> float:
        """Return the part of a comparison's risk that is spent after so many blocks."""
        return self.continuation.risk_spent(blocks, self.max_blocks, self.share)

    def detectable_difference(self, blocks: int) -> float:
        """Return the difference, in standard deviations, that n >= 2 blocks find with power 0.8.

        (t(1 - a/2, n-1) + t(power, n-1)) / sqrt(n) with the level a of the last analysis of the
        stage. As n grows, it becomes the usual z(1 - a/2) + z(power) standard errors; with z alone
        a study of 10 blocks has a power of 0.70 only.
        """
        return _detectable_difference(blocks, self._last_level(blocks))

    def estimate_blocks_needed(self, sd: float, blocks: int) -> int:
        """Return the total number that would probably give a verdict, where ``blocks`` gave none.

        It is the end of a stage after the plan, where the levels of earlier analyses are too small
        to be likely to decide, and where ``blocks`` should have found a difference of the margin.
        """
        required = self.required_blocks(sd)
        if blocks < required <= self.max_blocks:
            return required
        least, ends = max(required, blocks + 1), self.continuation.ends(self.max_blocks)
        return next((end for end in ends if end >= least), least)

    def required_blocks(self, sd: float) -> int:
        """Return the fewest blocks that find a difference of the margin with power 0.8.

        ``sd`` is that of the paired log-ratios. The result may exceed ``longest``. It is then too
        small, because later stages have smaller levels, which are not computed in vain. In each
        stage the search starts at ((z(1 - a/2) + z(power)) * sd / delta)^2, a few blocks below.
        """
        distance = self.delta - self.bias
        needed = self.min_blocks
        for end in self.continuation.ends(self.max_blocks):
            level = self._last_level(end)
            errors = normal_quantile(POWER) - normal_quantile(level / 2)
            needed = max(needed, math.ceil((errors * sd / distance) ** 2))
            is_last = end == self.longest or needed > self.longest
            while needed <= end or is_last:
                if _detectable_difference(needed, level) * sd <= distance:
                    return needed
                needed += 1
        raise AssertionError("the last stage has no end here")

    def _last_level(self, blocks: int) -> float:
        return float(self.boundaries_of(blocks).difference[-1])


def _detectable_difference(blocks: int, level: float) -> float:
    quantile = -float(t_quantile(blocks - 1, level / 2))
    return (quantile + float(t_quantile(blocks - 1, POWER))) / math.sqrt(blocks)
