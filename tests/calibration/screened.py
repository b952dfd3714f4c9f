"""Simulated screenings: blocks of a whole design, stopped when every effect is decided.

Noise is made in run order, as for studies that compare configurations, and the runs of each block
are laid over it in random order; with a factor that is hard to change, whole plots first.
Intervals, words and levels are those of the code that decides; only the steps of Holm are written
once more, for many studies at a time, and a test compares them with those of
`iostudy_search.screening.effects`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from iostudy.analysis.paired import t_bounds
from iostudy.analysis.rule import Rule
from iostudy.analysis.spending import AnalysisMethod
from iostudy.analysis.verdict import Verdict, classify_intervals
from iostudy_search.screening.designs import Runs, main_effects, plackett_burman
from tests.calibration.simulation import NOISE, SEED, Array, NoiseShape, noise

FACTORS = 7
FOLDED, ALONE = (plackett_burman(FACTORS, fold_over=fold_over) for fold_over in (True, False))
RULE = Rule(
    margin=0.005,
    risk=0.05,
    min_blocks=5,
    max_blocks=30,
    comparisons=FACTORS,
    method=AnalysisMethod.CONSTANT_LEVEL,
)
"""A margin too small for the noise, so that nothing ends as equivalent."""
WORDS = {word: str(word) for word in Verdict}


def log_figures(
    shape: NoiseShape, runs: Runs, studies: int, blocks: int, *, whole_plot: float | None = None
) -> Array:
    """Log figures without any effect: studies x blocks x runs, noise 6 % a trial.

    With ``whole_plot`` the first factor is hard to change: the runs of each of its levels follow
    one another, and share noise of their own, that many times as large as a trial's.
    """
    draw = np.random.default_rng([SEED, 8, list(NoiseShape).index(shape)])
    number = len(runs)
    in_run_order = noise(shape, draw, studies, blocks * number).reshape(studies, blocks, number)
    if whole_plot is None:
        return NOISE * draw.permuted(in_run_order, axis=2)
    formats = noise(shape, draw, studies, blocks * 2).reshape(studies, blocks, 2, 1)
    plots = in_run_order.reshape(studies, blocks, 2, number // 2) + whole_plot * formats
    order = draw.random((studies, blocks, 2, 1)).argsort(axis=2)
    plots = draw.permuted(np.take_along_axis(plots, order, axis=2), axis=3)
    figures = np.empty((studies, blocks, number))
    for level in (0, 1):
        figures[:, :, runs[:, 0] == level] = plots[:, :, level]
    return NOISE * figures


def estimates(figures: Array, runs: Runs) -> Array:
    """The blocks' estimates of every effect: studies x blocks x effects."""
    weights = main_effects(runs, [2] * runs.shape[1]).weights
    return np.asarray(figures @ weights.T)


@dataclass(frozen=True)
class ScreeningOutcome:
    """Where each study ended, by effect; ``ever`` has the differences found at any look."""

    words: NDArray[np.str_]
    by_interval: NDArray[np.str_]
    low: Array
    high: Array
    blocks: NDArray[np.int64]
    ever: NDArray[np.bool_]

    def any_difference(self, effects: slice) -> float:
        """The share of studies that ever found one among these effects."""
        return float(self.ever[:, effects].any(axis=1).mean())

    def found(self, effect: int) -> float:
        """The share of studies that end with a difference of this effect."""
        return float(_is_difference(self.words[:, effect]).mean())

    def any_missed(self, truth: Array) -> float:
        """The share of studies in which any interval does not hold the truth."""
        missed = (self.low > truth) | (self.high < truth)
        return float(missed.any(axis=1).mean())


def carry_out(series: Array, rule: Rule) -> ScreeningOutcome:
    """Look after every block, and stop when all effects of a study are decided."""
    counts = np.arange(rule.min_blocks, series.shape[1] + 1)
    n = counts[None, :, None]
    mean = series.cumsum(axis=1)[:, counts - 1] / n
    squares = (series**2).cumsum(axis=1)[:, counts - 1]
    sd = np.sqrt(np.maximum(1e-30, squares - n * mean**2) / (n - 1))
    low, high = t_bounds(mean, sd, n, rule.repeated_alpha(rule.max_blocks))
    by_interval = classify_intervals(low, high, np.broadcast_to(n, mean.shape), rule)
    p = 2 * special.stdtr(n - 1, -np.abs(mean) / (sd / np.sqrt(n)))
    words = np.where(
        _holm(p, rule) & (by_interval == WORDS[Verdict.INCONCLUSIVE]),
        np.where(mean > 0, WORDS[Verdict.BETTER], WORDS[Verdict.WORSE]),
        by_interval,
    )
    decided = (words != WORDS[Verdict.INCONCLUSIVE]).all(axis=2)
    last = np.where(decided.any(axis=1), decided.argmax(axis=1), len(counts) - 1)
    looked = np.arange(len(counts))[None, :, None] <= last[:, None, None]
    each = np.arange(len(series))
    return ScreeningOutcome(
        words=words[each, last],
        by_interval=by_interval[each, last],
        low=low[each, last],
        high=high[each, last],
        blocks=counts[last],
        ever=(_is_difference(words) & looked).any(axis=1),
    )


def _is_difference(words: NDArray[np.str_]) -> NDArray[np.bool_]:
    return np.isin(words, [WORDS[Verdict.BETTER], WORDS[Verdict.WORSE]])


def _holm(p: Array, rule: Rule) -> NDArray[np.bool_]:
    """Holm's steps along the last axis."""
    number = p.shape[-1]
    levels = [
        replace(rule, comparisons=number - step).repeated_alpha(rule.max_blocks)
        for step in range(number)
    ]
    order = p.argsort(axis=-1)
    passed = np.take_along_axis(p, order, axis=-1) <= np.array(levels)
    found = np.empty(p.shape, dtype=bool)
    np.put_along_axis(found, order, np.logical_and.accumulate(passed, axis=-1), axis=-1)
    return found


def together(runs: Runs, first: int, second: int) -> Array:
    """1/4 where both factors have the same level, else -1/4: an interaction of size 1."""
    return np.asarray((runs[:, first] - 0.5) * (runs[:, second] - 0.5))


def by_model_residual(figures: Array, runs: Runs, risk: float) -> NDArray[np.bool_]:
    """Which effects one run of each configuration claims: studies x effects.

    t tests with the residual of the model of main effects, as textbooks have it where nothing is
    repeated; ``figures`` are studies x runs.
    """
    weights = main_effects(runs, [2] * runs.shape[1]).weights
    effects = figures @ weights.T
    signs = 2.0 * runs - 1
    fitted = figures.mean(axis=1, keepdims=True) + effects @ signs.T / 2
    freedom = len(runs) - runs.shape[1] - 1
    variance = ((figures - fitted) ** 2).sum(axis=1, keepdims=True) / freedom
    t = np.abs(effects) / np.sqrt(4 * variance / len(runs))
    return np.asarray(t > scipy.stats.t.isf(risk / 2, freedom))
