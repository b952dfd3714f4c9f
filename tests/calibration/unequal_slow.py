"""Simulated studies of two configurations that feel the slow noise of a machine unequally."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.decision import estimate_alone
from iostudy.analysis.rule import Rule
from iostudy.analysis.series import FamilyOfTests, flag_figures, measure_slow_noise
from iostudy.analysis.verdict import Verdict
from iostudy_fleet.pooling import NodeEffect, pool_nodes
from tests.calibration.simulation import SEED, Array, autocorrelated, carry_out

ALONE = FamilyOfTests(series=1, pairs=1)


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
    return NodeEffect("", estimate_alone(ratios, rule)[0], sd, len(ratios))


def _first(chosen: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
    return np.flatnonzero(chosen)[: max(0, most)]
