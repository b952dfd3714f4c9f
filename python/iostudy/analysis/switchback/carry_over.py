"""Tests for effects of position, previous configuration, residence and drift on windows.

A round switches every configuration in once in random order, after a discarded period of its first
configuration. A window thus follows each configuration, itself included, equally often: a design
with an extra period (Lucas 1957). First-order carry-over is then orthogonal to configurations.

Each effect is the coefficient of an indicator x in a regression of log figures, with a t interval.
Standard errors are clustered by round, with the leverage correction of Bell & McCaffrey (2002). The
order of a round is drawn independently of the noise, so the coefficients of the previous
configuration and of residence are unbiased whatever the noise does. Intervals of several groups
share their level (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.distributions import t_cdf, t_quantile

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

CONFIDENCE = 0.95
MIN_ROUNDS = 8
"""Fewest rounds of a test."""
_SERIES = 8
"""Parts of a run that each give a slope; Ibragimov & Müller (2010) recommend about 8."""


@dataclass(frozen=True)
class Rounds:
    """Rounds x configurations of a workload, in the order of measurement.

    ``logs`` are log figures, ``positions`` count from 0, ``previous`` are indices of
    configurations. ``seconds`` is the duration of a round.
    """

    logs: Array
    positions: Labels
    previous: Labels
    seconds: float


@dataclass(frozen=True)
class CarryOverEffect:
    """The effect of the group with the smallest p value, as a log-ratio.

    ``p`` and the interval from ``low`` to ``high`` hold for all groups together.
    """

    group: int
    effect: float
    low: float
    high: float
    p: float

    def is_flagged(self, level: float, relevant: float) -> bool:
        """Return whether it is significant and at least ``relevant``, a log-ratio."""
        return self.p < level and abs(self.effect) >= relevant


@dataclass(frozen=True)
class Drift:
    """A linear drift of the log figures, and the bias of a comparison that it causes.

    ``slope``, ``low`` and ``high`` are per second. ``bias.group`` is the configuration with
    the largest lag of its windows against those of the baseline.
    """

    slope: float
    low: float
    high: float
    bias: CarryOverEffect


def measure_position(rounds: Rounds) -> CarryOverEffect | None:
    """Compare the windows of each position with the others; None with too few rounds."""
    count = rounds.logs.shape[1]
    indicators = (np.equal(rounds.positions, place) for place in range(count))
    return _strongest(_within_rounds(rounds.logs), indicators)


def measure_previous(rounds: Rounds) -> CarryOverEffect | None:
    """Compare the windows after each configuration with the others; None with too few rounds."""
    count = rounds.logs.shape[1]
    indicators = (np.equal(rounds.previous, label) for label in range(count))
    return _strongest(_between_rounds(rounds.logs), indicators)


def measure_residence(rounds: Rounds) -> CarryOverEffect | None:
    """Compare each configuration's windows after itself with its windows after others.

    A configuration that follows itself has been in place for longer. A difference shows a response
    that has not settled. None with too few rounds.
    """
    count = rounds.logs.shape[1]
    own = np.equal(rounds.previous, np.arange(count))
    indicators = (own & (np.arange(count) == label) for label in range(count))
    return _strongest(_between_rounds(rounds.logs), indicators, distinct=True)


def measure_drift(rounds: Rounds, lags: Sequence[float]) -> Drift | None:
    """Return the drift and its bias; None with too few rounds.

    ``lags`` say by how many seconds the windows of each configuration are later than those of the
    baseline on average. The slopes of parts of the run are nearly independent also for
    autocorrelated noise, so their mean has a t interval.
    """
    means = rounds.logs.mean(axis=1)
    if len(means) < 2 * _SERIES or rounds.seconds <= 0:
        return None
    slopes = np.array([_slope(part) for part in np.array_split(means, _SERIES)]) / rounds.seconds
    slope, error = float(slopes.mean()), float(slopes.std(ddof=1)) / math.sqrt(_SERIES)
    group = int(np.argmax(np.abs(lags)))
    own = _effect(0, slope, error, _SERIES - 1, 1)
    low, high = sorted((own.low * lags[group], own.high * lags[group]))
    bias = CarryOverEffect(group, slope * lags[group], low, high, own.p)
    return Drift(slope, own.low, own.high, bias)


def _slope(values: Array) -> float:
    steps = np.arange(len(values)) - (len(values) - 1) / 2
    return float(values @ steps / (steps @ steps))


def _within_rounds(logs: Array) -> Array:
    """Return the logs without the means of rounds and configurations."""
    own = logs - logs.mean(axis=1, keepdims=True)
    return np.asarray(own - own.mean(axis=0))


def _between_rounds(logs: Array) -> Array:
    """Return the logs without the means of configurations and of the neighbouring rounds.

    The mean of the own round would take part of the effect with it: with two configurations, both
    windows of a round follow the same one.
    """
    if len(logs) < MIN_ROUNDS:
        return logs
    own = logs - logs.mean(axis=0)
    level = own.mean(axis=1)
    neighbours = np.concatenate([level[1:2], (level[:-2] + level[2:]) / 2, level[-2:-1]])
    own = own - neighbours[:, np.newaxis]
    return np.asarray(own - own.mean(axis=0))


def _strongest(
    residuals: Array, indicators: Iterable[NDArray[np.bool_]], *, distinct: bool = False
) -> CarryOverEffect | None:
    """Return the group with the smallest p value, with its p value and interval over all groups.

    Two groups that are not ``distinct`` are the complements of each other: one test.
    """
    count = residuals.shape[1]
    if len(residuals) < MIN_ROUNDS or count < 2:
        return None
    tests = 1 if count == 2 and not distinct else count
    found = [
        _regress(group, residuals, each.astype(np.float64), tests)
        for group, each in enumerate(indicators)
    ]
    return min(filter(None, found), key=lambda own: own.p, default=None)


def _regress(group: int, residuals: Array, indicator: Array, tests: int) -> CarryOverEffect | None:
    """Return the coefficient of an indicator, adjusted for configurations; None if it is constant.

    The degrees of freedom are those of Satterthwaite for the leverages of the rounds.
    """
    x = indicator - indicator.mean(axis=0)
    total = float((x**2).sum())
    if total == 0:
        return None
    leverages = (x**2).sum(axis=1) / total
    freedom = 1 / float((leverages**2).sum()) - 1
    if freedom < 1 or leverages.max() >= 1:
        return None
    effect = float((residuals * x).sum()) / total
    scores = ((residuals - effect * x) * x).sum(axis=1) / np.sqrt(1 - leverages)
    error = math.sqrt(float((scores**2).sum())) / total
    return _effect(group, effect, error, freedom, tests)


def _effect(group: int, effect: float, error: float, freedom: float, tests: int) -> CarryOverEffect:
    if error == 0:
        return CarryOverEffect(group, effect, effect, effect, float(effect == 0))
    half = -float(t_quantile(freedom, (1 - CONFIDENCE) / (2 * tests))) * error
    p = min(1.0, 2 * tests * float(t_cdf(freedom, -abs(effect) / error)))
    return CarryOverEffect(group, effect, effect - half, effect + half, p)
