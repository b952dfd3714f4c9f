"""Thousands of simulated studies at once, decided by the code that decides real ones.

Noise is made in the order in which trials run, as it is on a machine; the configurations of each
block are then laid over it in random order, as a plan does. Only the noise is simulated: intervals,
words and stops come from `iostudy.analysis.decision`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

import numpy as np
import scipy
from numpy.typing import NDArray

from iostudy.analysis import decision
from iostudy.analysis.distributions import Flags
from iostudy.analysis.rule import Rule
from iostudy.analysis.spending import AnalysisMethod
from iostudy.analysis.verdict import Verdict

SEED = 20240611
NOISE = 0.06

Array = NDArray[np.float64]


class NoiseShape(StrEnum):
    """How the noise of successive trials is distributed, and how it hangs together."""

    NORMAL = "normal"
    T3 = "heavy tails (t, 3 degrees of freedom)"
    LOG_NORMAL = "skewed (log-normal)"
    SPIKES = "10 % of trials 5 sd slower"
    AR1 = "autocorrelated (AR(1), phi 0.9)"
    DRIFT = "drift of two sd over the study"


def noise(shape: NoiseShape, draw: np.random.Generator, studies: int, trials: int) -> Array:
    """Noise of about unit spread, one row a study, its trials in run order."""
    normal = draw.standard_normal((studies, trials))
    match shape:
        case NoiseShape.NORMAL:
            return normal
        case NoiseShape.T3:
            return draw.standard_t(3, (studies, trials)) / math.sqrt(3)
        case NoiseShape.LOG_NORMAL:
            return (np.exp(normal) - math.exp(0.5)) / math.sqrt(math.exp(2) - math.e)
        case NoiseShape.SPIKES:
            return normal - 5 * (draw.random((studies, trials)) < 0.1)
        case NoiseShape.AR1:
            return autocorrelated(normal, phi=0.9)
        case NoiseShape.DRIFT:
            return normal + np.linspace(-1, 1, trials)
    assert_never(shape)


def autocorrelated(innovations: Array, phi: float) -> Array:
    """A stationary AR(1) series of unit variance along the last axis."""
    scaled = innovations * math.sqrt(1 - phi**2)
    scaled[:, 0] = innovations[:, 0]
    return np.asarray(scipy.signal.lfilter([1.0], [1.0, -phi], scaled, axis=-1))


def log_figures(
    shape: NoiseShape, draw: np.random.Generator, studies: int, blocks: int, configurations: int
) -> Array:
    """Log figures of equal configurations: studies x blocks x configurations, noise 6 %."""
    in_run_order = NOISE * noise(shape, draw, studies, blocks * configurations)
    in_blocks = in_run_order.reshape(studies, blocks, configurations)
    return draw.permuted(in_blocks, axis=2)


@dataclass(frozen=True)
class Outcomes:
    """How each study ended: the word, after how many blocks, and the interval at that moment."""

    verdicts: NDArray[np.str_]
    blocks: NDArray[np.int64]
    low: Array
    high: Array

    def share(self, *verdicts: Verdict) -> float:
        """The share of studies that ended with one of these."""
        return float(np.isin(self.verdicts, [str(v) for v in verdicts]).mean())

    @property
    def wrong(self) -> float:
        """The share that names a winner, which between equal configurations is wrong."""
        return self.share(Verdict.BETTER, Verdict.WORSE)

    def covering(self, truth: float) -> float:
        """The share whose interval holds the true log-ratio."""
        return float(((self.low <= truth) & (truth <= self.high)).mean())


def carry_out(
    ratios: Array, rule: Rule, *, ready: Flags | None = None, rare: Flags | None = None
) -> Outcomes:
    """Decide every study (studies x blocks) as a real one is decided."""
    if rule.method is AnalysisMethod.CONSTANT_LEVEL:
        return _carry_out_at_one_level(ratios, rule)
    ended = decision.decide(ratios, rule, ready=ready, rare=rare)
    return _outcomes(ratios, ended, rule)


def _carry_out_at_one_level(ratios: Array, rule: Rule) -> Outcomes:
    """Stop every study at its first verdict."""
    looks = [decision.decide(ratios[:, :count], rule) for count in rule.boundaries.looks]
    open_ = np.array([ended.words == str(Verdict.INCONCLUSIVE) for ended in looks])
    last = np.minimum(np.logical_and.accumulate(open_, axis=0).sum(axis=0), len(looks) - 1)
    ended = decision.Outcomes(
        *(
            np.array([vars(at_look)[name] for at_look in looks])[
                last, ..., np.arange(len(ratios))
            ].T
            for name in vars(looks[0])
        )
    )
    return _outcomes(ratios, ended, rule)


def _outcomes(ratios: Array, ended: decision.Outcomes, rule: Rule) -> Outcomes:
    _, low, high = decision.estimate_shown(ratios, ended, rule)
    return Outcomes(ended.words, ended.blocks, low, high)


def pairs(shape: NoiseShape, rule: Rule, studies: int, *, difference: float = 0.0) -> Array:
    """Paired log-ratios of two configurations that truly differ by ``difference`` (log scale)."""
    draw = np.random.default_rng([SEED, list(NoiseShape).index(shape)])
    figures = log_figures(shape, draw, studies, rule.max_blocks, configurations=2)
    return figures[:, :, 1] - figures[:, :, 0] + difference


def unequal_variances(shape: NoiseShape, rule: Rule, studies: int) -> Array:
    """Ratios with a true mean of zero, where only the other configuration has any noise.

    Unlike those of equal configurations, which are symmetric whatever the noise, these are as
    skewed as the noise itself.
    """
    draw = np.random.default_rng([SEED, 3, list(NoiseShape).index(shape)])
    mean = -0.5 if shape is NoiseShape.SPIKES else 0.0
    return NOISE * (noise(shape, draw, studies, rule.max_blocks) - mean)


def families(
    shape: NoiseShape, rule: Rule, studies: int, *, configurations: int, workloads: int
) -> Array:
    """For each study of equal configurations whether any of its comparisons names a winner."""
    draw = np.random.default_rng([SEED, 1, list(NoiseShape).index(shape)])
    wrong = np.zeros(studies, dtype=bool)
    for _ in range(workloads):
        figures = log_figures(shape, draw, studies, rule.max_blocks, configurations)
        for other in range(1, configurations):
            words = carry_out(figures[:, :, other] - figures[:, :, 0], rule).verdicts
            wrong |= np.isin(words, [str(Verdict.BETTER), str(Verdict.WORSE)])
    return wrong


def standard_error(rate: float, studies: int) -> float:
    """Of a share of ``studies`` independent studies whose expectation is ``rate``."""
    return math.sqrt(rate * (1 - rate) / studies)
