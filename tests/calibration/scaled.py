"""Simulated scaling curves, of studies that stop at their verdicts as real ones do.

Noise is made in run order over rounds of all levels; levels are laid over a round in random order,
and configurations over each block. At each level a configuration runs until its verdict, and the
baseline until the last of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from iostudy.analysis.ranking import BlockedRuns, IntervalEstimates, rank
from iostudy.analysis.rule import Rule
from iostudy.analysis.scaling import (
    CrossingEstimate,
    CurveEstimate,
    estimate_curves,
    find_crossings,
)
from tests.calibration.ranked import stopped
from tests.calibration.simulation import NOISE, SEED, Array, NoiseShape, noise

LOADS = (1.0, 2.0, 4.0, 8.0)
MEETING = float(np.sqrt(LOADS[1] * LOADS[2]))
"""Where the curves of OVERTAKING cross."""


def _scene(*second: float) -> Array:
    """Levels x configurations: the effect of the second of three curves relative to the others."""
    return np.array([[0.0, own, 0.0] for own in second])


EQUAL = _scene(0.0, 0.0, 0.0, 0.0)
TOUCHING = _scene(0.0, 0.0, 0.1, 0.1)
OVERTAKING = _scene(-0.1, -0.05, 0.05, 0.1)


@dataclass(frozen=True)
class CurveModel:
    """Curves that rise over three levels and then gain ``last_gain`` (log scale).

    ``effects``, levels x configurations, are added to that; ``noise`` is that of a trial.
    """

    effects: Array
    rule: Rule
    last_gain: float
    noise: float = NOISE

    @property
    def truth(self) -> Array:
        """Log figures, levels x configurations."""
        curve = np.array([0.0, 0.4, 0.8, 0.8 + self.last_gain])
        return np.asarray(curve[:, None] + self.effects)

    @classmethod
    def at_the_margin(cls, effects: Array, rule: Rule) -> CurveModel:
        """The last level gains just the margin: sets without it are wrong as often as can be."""
        return cls(effects, rule, last_gain=rule.delta)


@dataclass(frozen=True)
class KneeRates:
    """Shares of studies. ``values``, ``gains``: some interval misses; ``knees``: some set does.

    ``single_knee``: the knee of the baseline is one level. ``made_up``: some crossing is shown
    that is not there; ``found``: that of the first two curves is; ``missed``: the interval of one
    that is there does not hold it.
    """

    values: float
    gains: float
    knees: float
    single_knee: float
    made_up: float
    found: float
    missed: float


def simulate(shape: NoiseShape, scene: CurveModel, studies: int) -> KneeRates:
    """What became of the curves of many studies."""
    levels, configurations = scene.effects.shape
    rule = replace(scene.rule, comparisons=(configurations - 1) * levels)
    figures = _figures(shape, scene, studies)
    run = np.stack([stopped(figures[:, level], rule) for level in range(levels)], axis=1)
    judged = [_judged(each, scene, rule) for each in run]
    return KneeRates(*(float(share) for share in np.mean(judged, axis=0)))


def _figures(shape: NoiseShape, scene: CurveModel, studies: int) -> Array:
    """Studies x levels x rounds x configurations."""
    draw = np.random.default_rng([SEED, 8, list(NoiseShape).index(shape)])
    levels, configurations = scene.effects.shape
    size = (studies, scene.rule.max_blocks, levels, configurations)
    mean = -0.5 if shape is NoiseShape.SPIKES else 0.0
    in_run_order = noise(shape, draw, studies, int(np.prod(size[1:]))).reshape(size) - mean
    order = draw.random(size[:3]).argsort(axis=2)
    blocks = scene.noise * np.take_along_axis(in_run_order, order[..., None], axis=2)
    return np.asarray((draw.permuted(blocks, axis=3) + scene.truth).transpose(0, 2, 1, 3))


def _judged(figures: Array, scene: CurveModel, rule: Rule) -> tuple[bool, ...]:
    found, truth = estimate_curves(figures, rule), scene.truth
    ranking = rank([BlockedRuns(own) for own in figures], [1.0] * len(figures), rule)
    shown = [
        each for each in find_crossings(LOADS, ranking.by_workload) if each.interval is not None
    ]
    there = [each for each in shown if not _is_made_up(each, truth)]
    true_gains = truth[None, :, :] - truth[:, None, :]
    return (
        any(_misses(own.values, true) for own, true in zip(found, truth.T, strict=True)),
        any(_misses(own.gains, true_gains[:, :, c]) for c, own in enumerate(found)),
        any(_has_lost_its_knee(own) for own in found),
        len(found[0].knee) == 1,
        len(there) < len(shown),
        any({each.overtaking, each.overtaken} == {0, 1} for each in there),
        any(not _holds(each) for each in there),
    )


def _misses(estimates: IntervalEstimates, true: Array) -> bool:
    return bool(((estimates.low > true) | (estimates.high < true)).any())


def _has_lost_its_knee(curve: CurveEstimate) -> bool:
    """Where the last level gains the margin, all curves pay, and hold, up to it."""
    last = len(LOADS) - 1
    return last not in curve.saturates_at or last not in curve.stable_up_to


def _is_made_up(crossing: CrossingEstimate, truth: Array) -> bool:
    ahead = truth[:, crossing.overtaking] - truth[:, crossing.overtaken]
    return not ahead[crossing.below] < -1e-9 < 1e-9 < ahead[crossing.above]


def _holds(crossing: CrossingEstimate) -> bool:
    assert crossing.interval is not None
    low, high = crossing.interval
    return low <= MEETING <= high
