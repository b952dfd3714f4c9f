"""Simulated studies of two configurations with unequal noise on a machine with slow noise.

One AR(1) series runs through the whole study. Each configuration passes on a share of it and adds
noise of its own. The true means are equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.series import FamilyOfTests, flag_pairs
from iostudy.analysis.verdict import Rule, Verdict
from tests.calibration.simulation import SEED, Array, NoiseShape, autocorrelated, carry_out, noise

ALONE = FamilyOfTests(series=1, pairs=1)
BATCH = 1000
"""Studies that are in memory at the same time."""


@dataclass(frozen=True)
class Inequality:
    """The noise of two configurations, in standard deviations of the slow noise.

    The first has noise of ``shape`` and 1 sd of its own and all of the slow noise; the second has
    ``quiet`` times a normal noise of its own and the share ``passed`` of the slow noise.
    """

    shape: NoiseShape
    quiet: float
    passed: float


@dataclass(frozen=True)
class WinnerRates:
    """Shares: of studies that name a winner, and of these with a flag on their pairs."""

    wrong: float
    flagged: float


def find_winners(
    inequality: Inequality, rule: Rule, phi: float, studies: int, most: int
) -> WinnerRates:
    """Return the false winners; of these at most ``most`` are examined for flags."""
    draw = np.random.default_rng([SEED, 32, list(NoiseShape).index(inequality.shape)])
    wrong, flags = 0, list[bool]()
    for _ in range(studies // BATCH):
        first, second = _draw_figures(inequality, rule.max_blocks, phi, draw)
        ended = carry_out(second - first, rule)
        winners = np.isin(ended.verdicts, [str(Verdict.BETTER), str(Verdict.WORSE)])
        wrong += int(winners.sum())
        for study in _first(winners, most - len(flags)):
            counted = slice(ended.blocks[study])
            flags.append(bool(flag_pairs(first[study, counted], second[study, counted], ALONE)))
    return WinnerRates(wrong / studies, float(np.mean(flags)))


def _draw_figures(
    inequality: Inequality, blocks: int, phi: float, draw: np.random.Generator
) -> tuple[Array, Array]:
    """The log figures of both configurations: studies x blocks each, in an order drawn anew."""
    size = (BATCH, blocks, 2)
    slow = autocorrelated(draw.standard_normal((BATCH, 2 * blocks)), phi).reshape(size)
    slow = draw.permuted(slow, axis=2)
    mean = -0.5 if inequality.shape is NoiseShape.SPIKES else 0.0
    own = noise(inequality.shape, draw, BATCH, blocks) - mean
    calm = inequality.quiet * draw.standard_normal((BATCH, blocks))
    return slow[:, :, 0] + own, inequality.passed * slow[:, :, 1] + calm


def _first(chosen: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
    return np.flatnonzero(chosen)[: max(0, most)]
