"""Simulated studies that are ranked: stopped by their verdicts first, as real ones are.

On each workload a configuration is run until its verdict, and the baseline until the last of them;
the ranking then has the blocks that are left to it, and is made by the code that makes real ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.ranking import BlockedRuns, Ranking, rank
from iostudy.analysis.verdict import Rule, Verdict
from tests.calibration.simulation import SEED, Array, NoiseShape, carry_out, log_figures

STAIRCASE = (0.0, 0.04, 0.04, 0.08)
"""Two are equal; from step to step a difference that 30 blocks often find."""


@dataclass(frozen=True)
class Design:
    """True effects on a log scale, workloads x configurations, the first of these the baseline."""

    effects: Array
    rule: Rule

    @classmethod
    def uniform(cls, effects: Sequence[float], workloads: int, rule: Rule) -> Design:
        """The same effects on every workload."""
        return cls(np.tile(effects, (workloads, 1)), rule)

    @property
    def truth(self) -> Array:
        """Where each configuration stands on all workloads together."""
        return np.asarray(self.effects.mean(axis=0).round(12))


@dataclass(frozen=True)
class RankingRates:
    """Shares of studies with an error in the ranking, with or without stopping.

    ``wrong``: some configuration is put before one that is as good or better; ``uncovered``: a true
    rank is outside its set, where equals share all of their ranks; ``missed``: an interval of a
    combined difference does not hold it; ``split``: some pair is said to change places.
    """

    wrong: float
    uncovered: float
    missed: float
    split: float


def simulate(shape: NoiseShape, design: Design, studies: int) -> RankingRates:
    """What became of many rankings."""
    judged = [_judged(ranking, design.truth) for ranking in _rankings(shape, design, studies)]
    return RankingRates(*(float(share) for share in np.mean(judged, axis=0)))


def _rankings(shape: NoiseShape, design: Design, studies: int) -> Iterator[Ranking]:
    workloads, configurations = design.effects.shape
    draw = np.random.default_rng([SEED, 6, list(NoiseShape).index(shape)])
    rule = replace(design.rule, comparisons=(configurations - 1) * workloads)
    figures = [
        stopped(log_figures(shape, draw, studies, rule.max_blocks, configurations) + own, rule)
        for own in design.effects
    ]
    for each in zip(*figures, strict=True):
        yield rank([BlockedRuns(own) for own in each], [1.0] * workloads, rule)


def stopped(figures: Array, rule: Rule) -> Array:
    """Studies x blocks x configurations, with NaN for what was decided before a block."""
    last = np.stack(
        [
            carry_out(figures[:, :, other] - figures[:, :, 0], rule).blocks
            for other in range(1, figures.shape[2])
        ],
        axis=1,
    )
    last = np.hstack([last.max(axis=1, keepdims=True), last])
    block = np.arange(figures.shape[1])[None, :, None]
    return np.where(block < last[:, None, :], figures, np.nan)


@dataclass(frozen=True)
class GateRates:
    """Shares of studies with any wrong rank, and with any wrong word, on any workload."""

    ranks: float
    words: float


def simulate_gate(effects: Sequence[float], workloads: int, rule: Rule, studies: int) -> GateRates:
    """How often the orders on each workload are wrong, with those of the baseline's verdicts."""
    design = Design.uniform(effects, workloads, rule)
    true = design.truth[:, None] - design.truth[None, :]
    false = {
        Verdict.EQUIVALENT: abs(true) >= rule.delta,
        Verdict.NOT_WORSE: true <= -rule.delta,
        Verdict.NOT_BETTER: true >= rule.delta,
    }
    wrong = []
    for ranking in _rankings(NoiseShape.NORMAL, design, studies):
        words = [order.verdicts for order in ranking.by_workload]
        ranks = any(((own == str(Verdict.BETTER)) & (true <= 0)).any() for own in words)
        others = any(
            ((own == str(v)) & is_false).any() for own in words for v, is_false in false.items()
        )
        wrong.append((ranks, ranks or others))
    return GateRates(*map(float, np.mean(wrong, axis=0)))


def _judged(ranking: Ranking, truth: Array) -> tuple[bool, bool, bool, bool]:
    pairs = ranking.combined.pairs
    true = truth[:, None] - truth[None, :]
    wrong = ((ranking.combined.verdicts == str(Verdict.BETTER)) & (true <= 0)).any()
    missed = ((pairs.low > true) | (pairs.high < true)).any()
    return bool(wrong), _uncovered(ranking, true), bool(missed), bool(ranking.interactions)


def _uncovered(ranking: Ranking, true: NDArray[np.float64]) -> bool:
    """Equals may be put in any order, so all of the ranks that they share have to be in."""
    first, last = 1 + (true < 0).sum(axis=1), len(true) - (true > 0).sum(axis=1)
    return any(
        ranks.best > low or ranks.worst < high
        for ranks, low, high in zip(ranking.combined.ranks, first, last, strict=True)
    )
