"""Simulated studies of two configurations with unequal noise on a machine with slow noise.

One AR(1) series runs through the whole study. Each configuration passes on a share of it and adds
noise of its own. The true means are equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.decision import estimate
from iostudy.analysis.rule import Rule
from iostudy.analysis.series import FamilyOfTests, flag_figures, flag_pairs, measure_slow_noise
from iostudy.analysis.verdict import Verdict
from iostudy_fleet.pooling import NodeEffect, pool_nodes
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


FELT_NOISE, SLOW_NOISE, FELT_PHI = 0.015, 0.10, 0.95
"""Own noise of a run, and slow noise of the machine, as standard deviations of log figures."""


@dataclass(frozen=True)
class FeltRates:
    """Shares of false winners: of a study, and of sessions of it that are pooled.

    ``flagged`` is the share of the winners whose figures have the flag of autocorrelation or
    drift. ``ratio`` is the median of how much more strongly the other feels slow noise, by the
    winners.
    """

    study: float
    flagged: float
    ratio: float
    sessions: float


def find_winners_by_feeling(
    times: float, rule: Rule, studies: int, sessions: int, most: int
) -> FeltRates:
    """Two configurations of equal mean feel AR(1) noise once and ``times`` as strongly.

    A session is a study in itself, and begins at a level of its own. At most ``most`` winners are
    examined.
    """
    draw = np.random.default_rng([SEED, 33, round(100 * times)])
    size = (studies * sessions, rule.max_blocks, 2)
    series = autocorrelated(draw.standard_normal((size[0], 2 * size[1])), FELT_PHI)
    order = draw.random(size).argsort(axis=2)
    own = FELT_NOISE * draw.standard_normal(size)
    felt = np.where(order == 1, times, 1.0) * SLOW_NOISE * series.reshape(size) + own
    figures = np.take_along_axis(felt, order.argsort(axis=2), axis=2)
    ratios = figures[:, :, 1] - figures[:, :, 0]
    ended = carry_out(ratios, rule)
    winners = np.isin(ended.verdicts, [str(Verdict.BETTER), str(Verdict.WORSE)])
    flagged, found = list[bool](), list[float]()
    for study in _first(winners, most):
        counted = slice(ended.blocks[study])
        groups = order[study, counted].ravel()
        flagged.append(bool(flag_figures(felt[study, counted].ravel(), groups, ALONE)))
        measured = measure_slow_noise(*figures[study, counted].T)
        found += [] if measured is None else [measured.value]
    together = [
        pool_nodes([_session(ratios[own, : ended.blocks[own]], rule) for own in group])
        for group in np.arange(size[0]).reshape(studies, sessions)
    ]
    intervals = [pooled.interval(rule.risk) for pooled in together]
    return FeltRates(
        study=float(winners.mean()),
        flagged=float(np.mean(flagged)),
        ratio=float(np.median(found)),
        sessions=float(np.mean([each.low > 0 or each.high < 0 for each in intervals])),
    )


def _session(ratios: Array, rule: Rule) -> NodeEffect:
    sd = float(ratios.std(ddof=1))
    return NodeEffect("", estimate(ratios, rule), sd, len(ratios))


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
