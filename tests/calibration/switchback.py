"""Simulated studies of hundreds of short windows, whose noise is slow.

One series of noise runs through the whole study. Every round has a window of each configuration in
random order, so that slow noise affects all of them, and the order makes differences symmetric. The
figure of a block is the mean over its rounds.
"""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.rule import Rule
from iostudy.analysis.verdict import Verdict
from tests.calibration.simulation import SEED, Array, NoiseShape, autocorrelated, carry_out, noise

ROUNDS = 3
"""Rounds of a block."""
BATCH = 1000
"""Studies that are in memory at the same time."""


class SlowShape(StrEnum):
    """How the noise of successive windows hangs together."""

    AR1 = "autocorrelated (AR(1), phi 0.99)"
    WALK = "random walk"
    DRIFT = "drift of two sd over the study"
    SPIKES = "10 % of trials 5 sd slower"


def slow_noise(shape: SlowShape, draw: np.random.Generator, studies: int, windows: int) -> Array:
    """Noise of successive windows, one row a study."""
    match shape:
        case SlowShape.AR1:
            return autocorrelated(draw.standard_normal((studies, windows)), phi=0.99)
        case SlowShape.WALK:
            return draw.standard_normal((studies, windows)).cumsum(axis=1)
        case SlowShape.DRIFT | SlowShape.SPIKES:
            return noise(NoiseShape(shape.value), draw, studies, windows)
    assert_never(shape)


def any_winner(
    shape: SlowShape, rule: Rule, studies: int, *, own: float = 0.0
) -> NDArray[np.bool_]:
    """For each study whether any comparison of equal configurations names a winner.

    ``own`` is the sd of further, independent noise of each window, in that of slow noise.
    """
    draw = np.random.default_rng([SEED, 29, list(SlowShape).index(shape)])
    size = (BATCH, rule.max_blocks, ROUNDS, rule.comparisons + 1)
    wrong = []
    for _ in range(studies // BATCH):
        slow = slow_noise(shape, draw, BATCH, size[1] * size[2] * size[3]).reshape(size)
        figures = draw.permuted(slow + own * draw.standard_normal(size), axis=3).mean(axis=2)
        ended = [
            carry_out(figures[:, :, other] - figures[:, :, 0], rule).verdicts
            for other in range(1, size[3])
        ]
        winners = np.isin(ended, [str(Verdict.BETTER), str(Verdict.WORSE)])
        wrong.append(winners.any(axis=0))
    return np.concatenate(wrong)
