"""Flags of simulated studies that stopped at their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.rule import Rule
from iostudy.analysis.series import FamilyOfTests, Flag, flag_figures, flag_pairs
from iostudy.analysis.verdict import Verdict
from tests.calibration.simulation import NOISE, SEED, Array, NoiseShape, carry_out, noise

RULE = Rule(margin=0.005, risk=0.05, min_blocks=5, max_blocks=30)
ALONE = FamilyOfTests(series=1, pairs=1)


@dataclass(frozen=True)
class FlagRates:
    """Shares of studies: with any flag, and with each."""

    any: float
    each: Counter[Flag]
    studies: int

    def share(self, flag: Flag) -> float:
        """The share of studies with this flag."""
        return self.each[flag] / self.studies


def flagged(shape: NoiseShape, studies: int) -> FlagRates:
    """Studies of two equal configurations, each flagged once it has stopped."""
    found = list(_flags(shape, studies))
    each = Counter(flag for flags in found for flag in flags)
    return FlagRates(float(np.mean([bool(flags) for flags in found])), each, studies)


def _flags(shape: NoiseShape, studies: int) -> Iterator[tuple[Flag, ...]]:
    draw = np.random.default_rng([SEED, 8, list(NoiseShape).index(shape)])
    trials = noise(shape, draw, studies, 2 * RULE.max_blocks)
    in_run_order = NOISE * trials.reshape(studies, RULE.max_blocks, 2)
    groups = draw.permuted(np.broadcast_to([0, 1], in_run_order.shape), axis=2)
    figures = np.take_along_axis(in_run_order, groups.argsort(axis=2), axis=2)
    blocks = carry_out(figures[:, :, 1] - figures[:, :, 0], RULE).blocks
    for study, last in enumerate(blocks):
        run, group, own = (each[study, :last] for each in (in_run_order, groups, figures))
        of_figures = flag_figures(run.ravel(), group.ravel(), ALONE)
        yield of_figures + flag_pairs(own[:, 0], own[:, 1], ALONE)


@dataclass(frozen=True)
class MarkRates:
    """Shares: of studies that name a winner, of these and of all others that are marked."""

    wrong: float
    wrong_marked: float
    others_marked: float


def unequal_variance_marks(shape: NoiseShape, quiet: float, studies: int, most: int) -> MarkRates:
    """Configurations of equal mean, the one noisy, the other with ``quiet`` times a normal noise.

    Of the winners and of the others at most ``most`` each are looked at.
    """
    draw = np.random.default_rng([SEED, 9, list(NoiseShape).index(shape)])
    mean = -0.5 if shape is NoiseShape.SPIKES else 0.0
    noisy = NOISE * (noise(shape, draw, studies, RULE.max_blocks) - mean)
    calm = quiet * NOISE * draw.standard_normal(noisy.shape)
    outcomes = carry_out(noisy - calm, RULE)
    wrong = np.isin(outcomes.verdicts, [str(Verdict.BETTER), str(Verdict.WORSE)])

    def marked(chosen: NDArray[np.bool_]) -> float:
        found = [_marked(calm[i], noisy[i], outcomes.blocks[i]) for i in _first(chosen, most)]
        return float(np.mean(found))

    return MarkRates(float(wrong.mean()), marked(wrong), marked(~wrong))


def _first(chosen: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
    return np.flatnonzero(chosen)[:most]


def _marked(calm: Array, noisy: Array, blocks: int) -> bool:
    found = flag_pairs(calm[:blocks], noisy[:blocks], ALONE)
    return Flag.UNEQUAL_VARIANCES in found or Flag.SKEWED_DIFFERENCES in found
