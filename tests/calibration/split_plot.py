"""Simulated studies of equal configurations on file systems that are made anew.

Every file system has a noise of its own, which all trials on it share: that of a whole plot. Two
file systems with three configurations each are a block; in run order, the trials of one file system
follow one another. By default each file system of each block is a new one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.rule import Rule
from iostudy.analysis.verdict import Verdict
from tests.calibration.simulation import NOISE, SEED, Array, NoiseShape, carry_out, noise

PLOTS, EACH = 2, 3
FAMILY = Rule(margin=0.005, risk=0.05, min_blocks=5, max_blocks=30, comparisons=PLOTS * EACH - 1)
WITHIN, ACROSS = (0, 1), (1, 0)
"""What is compared with the first configuration of the first file system."""


def log_figures(
    shape: NoiseShape, studies: int, blocks: int, whole_plot: float, *, made_once: bool = False
) -> Array:
    """Log figures of equal configurations: studies x blocks x file systems x configurations.

    ``whole_plot`` is the noise of making a file system, as a multiple of that of a trial; with
    ``made_once`` each is made once for all blocks.
    """
    draw = np.random.default_rng([SEED, 5, list(NoiseShape).index(shape)])
    trials = noise(shape, draw, studies, blocks * PLOTS * EACH)
    formats = noise(shape, draw, studies, blocks * PLOTS).reshape(studies, blocks, PLOTS, 1)
    if made_once:
        formats = formats[:, :1]
    in_run_order = trials.reshape(studies, blocks, PLOTS, EACH) + whole_plot * formats
    if not made_once:
        order = draw.random((studies, blocks, PLOTS, 1)).argsort(axis=2)
        in_run_order = np.take_along_axis(in_run_order, order, axis=2)
    return NOISE * draw.permuted(in_run_order, axis=3)


def ratios(figures: Array, other: tuple[int, int]) -> Array:
    """Paired log-ratios of one configuration against the baseline."""
    return np.asarray(figures[:, :, other[0], other[1]] - figures[:, :, 0, 0])


def any_wrong(figures: Array, rule: Rule) -> NDArray[np.bool_]:
    """For each study whether any of its comparisons names a winner."""
    wrong = np.zeros(len(figures), dtype=bool)
    for other in np.ndindex(PLOTS, EACH):
        if other != (0, 0):
            words = carry_out(ratios(figures, other), rule).verdicts
            wrong |= np.isin(words, [str(Verdict.BETTER), str(Verdict.WORSE)])
    return wrong
