"""Simulated studies that are ranked: stopped by their verdicts first, as real ones are.

On each workload a configuration is run until its verdict, and the baseline until the last of them;
the ranking then has the blocks that are left to it, and is made by the code that makes real ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.ranking import BlockedRuns, PairwiseOrder, combine_orders, rank
from iostudy.analysis.rule import Rule
from iostudy.analysis.verdict import Verdict
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
    combined difference does not hold it.
    """

    wrong: float
    uncovered: float
    missed: float


def simulate(shape: NoiseShape, design: Design, studies: int) -> RankingRates:
    """What became of many rankings."""
    judged = [
        _judged(_combine(runs, design), design.truth) for runs in _runs(shape, design, studies)
    ]
    return RankingRates(*(float(share) for share in np.mean(judged, axis=0)))


def places_change(design: Design, studies: int) -> float:
    """The share of studies in which some pair is said to change places."""
    found = [
        rank(runs, [1.0] * len(runs), _rule(design)).interactions
        for runs in _runs(NoiseShape.NORMAL, design, studies)
    ]
    return float(np.mean(list(map(bool, found))))


def _rule(design: Design) -> Rule:
    return replace(design.rule, comparisons=(design.effects.shape[1] - 1) * len(design.effects))


def _combine(runs: Sequence[BlockedRuns], design: Design) -> PairwiseOrder:
    """The combined order; without the orders on each of several workloads, which take long."""
    rule, shares = _rule(design), np.full(len(runs), 1 / len(runs))
    return (
        rank(runs, shares, rule).combined if len(runs) == 1 else combine_orders(runs, shares, rule)
    )


def _runs(shape: NoiseShape, design: Design, studies: int) -> Iterator[list[BlockedRuns]]:
    draw = np.random.default_rng([SEED, 6, list(NoiseShape).index(shape)])
    rule, count = _rule(design), design.effects.shape[1]
    figures = [
        stopped(log_figures(shape, draw, studies, rule.max_blocks, count) + own, rule)
        for own in design.effects
    ]
    for each in zip(*figures, strict=True):
        yield [BlockedRuns(own) for own in each]


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


def simulate_gate(design: Design, studies: int) -> tuple[float, float]:
    """Shares of studies with any wrong rank, and with any wrong final verdict, on any workload.

    Many studies at once, as `rank` orders one.
    """
    draw, rule = np.random.default_rng([SEED, 7]), _rule(design)
    workloads, count = design.effects.shape
    pairs = list(combinations(range(count), 2))
    others = replace(rule, comparisons=workloads * (count - 1) * (count - 2))
    ranks, words = np.zeros((2, studies), dtype=bool)
    for effects in design.effects:
        figures = log_figures(NoiseShape.NORMAL, draw, studies, rule.max_blocks, count) + effects
        ends = np.full((count, studies), rule.max_blocks)
        differs = np.zeros((count, studies), dtype=bool)
        for own, other in pairs:
            true = round(float(effects[other] - effects[own]), 12)
            found = carry_out(figures[:, :, other] - figures[:, :, own], others if own else rule)
            counted = found.blocks <= np.minimum(ends[own], ends[other])
            if own == 0:
                ends[other] = found.blocks
                differs[other] = np.isin(found.verdicts, [str(Verdict.BETTER), str(Verdict.WORSE)])
            else:
                counted &= differs[own] | differs[other]
            better, worse, equal = (
                counted & (found.verdicts == str(word))
                for word in (Verdict.BETTER, Verdict.WORSE, Verdict.EQUIVALENT)
            )
            ranks |= (better & (true <= 0)) | (worse & (true >= 0))
            words |= equal & (abs(true) >= rule.delta - 1e-12)
    return float(ranks.mean()), float((ranks | words).mean())


def _judged(order: PairwiseOrder, truth: Array) -> tuple[bool, bool, bool]:
    pairs = order.pairs
    true = truth[:, None] - truth[None, :]
    wrong = ((order.verdicts == str(Verdict.BETTER)) & (true <= 0)).any()
    missed = ((pairs.low > true) | (pairs.high < true)).any()
    return bool(wrong), _uncovered(order, true), bool(missed)


def _uncovered(order: PairwiseOrder, true: NDArray[np.float64]) -> bool:
    """Equals may be put in any order, so all of the ranks that they share have to be in."""
    first, last = 1 + (true < 0).sum(axis=1), len(true) - (true > 0).sum(axis=1)
    return any(
        ranks.best > low or ranks.worst < high
        for ranks, low, high in zip(order.ranks, first, last, strict=True)
    )
