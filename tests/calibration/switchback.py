"""Simulated studies of windows: pairs of rounds in mirrored order, under noise of their own time.

The noise runs through the whole study. Windows, washouts and lengths are those of a plan; the order
of each pair is drawn anew. Rules, verdicts and the test of settling are those of real studies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.rule import Rule
from iostudy.analysis.switchback.window_plan import (
    BIAS_SHARE,
    FEWEST_BLOCKS,
    JITTER,
    RISK_SHARE,
    Rehearsal,
    count_blocks,
    list_unsettled,
    plan_windows,
)
from iostudy.analysis.verdict import Verdict
from tests.calibration.simulation import SEED, Array, autocorrelated, carry_out

MARGIN, RISK = 0.05, 0.05
DELTA = math.log1p(MARGIN)
SECONDS = 60.0
BLOCKS = count_blocks(SECONDS)
BATCH = 250
"""Studies that are in memory at the same time."""
SWITCH_SECONDS = 0.027
PERIOD_SECONDS, FULL_SHARE = 0.1, 0.3
"""The period of a limiter, and the part of it at the full rate; at half of that otherwise."""
FINAL = tuple(map(str, (Verdict.BETTER, Verdict.WORSE)))


class WindowNoise(StrEnum):
    """The noise of half windows, of about a tenth."""

    WHITE = "white"
    UNEQUAL = "white, the others three times as noisy as the baseline"
    AR1 = "AR(1), phi 0.99, and white"
    WALK = "random walk, and white"
    SPIKES = "10 % of half windows half as fast"
    LIMITER = "a limiter that refills every 100 ms, and white"


@dataclass(frozen=True)
class Level:
    """The log rate of a level, and the ``amplitude`` of a response with a time constant."""

    log_rate: float = 0.0
    amplitude: float = 0.0
    seconds: float = 1.0


@dataclass(frozen=True)
class Study:
    """The levels of a study, the baseline first, and its noise."""

    levels: tuple[Level, ...]
    noise: WindowNoise = WindowNoise.WHITE


@dataclass(frozen=True)
class Ends:
    """The verdicts, studies x comparisons, and whether a study found a level unsettled."""

    words: NDArray[np.str_]
    unsettled: NDArray[np.bool_]


def rule_of(study: Study) -> Rule:
    """Return the rule of a study of windows."""
    comparisons = len(study.levels) - 1
    risk = RISK * (1 - RISK_SHARE)
    return Rule(
        MARGIN, risk, FEWEST_BLOCKS, BLOCKS, comparisons=comparisons, bias=BIAS_SHARE * DELTA
    )


def simulate(study: Study, studies: int) -> Ends:
    """Decide so many studies."""
    draw = np.random.default_rng([SEED, 29, list(WindowNoise).index(study.noise)])
    batches = list(_batches(study, studies, draw))
    return Ends(*(np.concatenate(parts) for parts in zip(*batches, strict=True)))


def _batches(
    study: Study, studies: int, draw: np.random.Generator
) -> Iterator[tuple[NDArray[np.str_], NDArray[np.bool_]]]:
    count, rule = len(study.levels), rule_of(study)
    for _ in range(studies // BATCH):
        figures, increments = _measure(study, draw)
        ratios = np.log(figures)
        ends = [carry_out(ratios[:, :, n] - ratios[:, :, 0], rule) for n in range(1, count)]
        last = np.max([own.blocks for own in ends], axis=0)
        unsettled = [
            bool(list_unsettled(dict(enumerate(own[:blocks].T)), DELTA, RISK_SHARE * RISK))
            for own, blocks in zip(increments, last, strict=True)
        ]
        yield np.array([own.verdicts for own in ends]).T, np.array(unsettled)


def _measure(study: Study, draw: np.random.Generator) -> tuple[Array, Array]:
    """Return the figures and the increments by study, block and level."""
    count = len(study.levels)
    plan = plan_windows(Rehearsal(1e5, SWITCH_SECONDS), count, DELTA, 20, SECONDS)
    assert plan is not None
    shape = BATCH, BLOCKS, plan.pairs
    first = draw.permuted(np.broadcast_to(np.arange(count), (*shape, count)), axis=3)
    order = np.concatenate([first, first[..., ::-1]], axis=3)
    window = draw.uniform(1 - JITTER, 1 + JITTER, (*shape, 1)) * plan.window_seconds
    # The last level of the first round stays in force for the second one.
    stays = np.arange(2 * count) == count
    gaps = np.where(stays, 0.0, SWITCH_SECONDS + plan.washout_seconds)
    starts = np.cumsum(gaps) + np.arange(2 * count) * window
    pairs = (starts[..., -1] + window[..., 0]).reshape(BATCH, -1)
    starts += (np.cumsum(pairs, axis=1) - pairs).reshape(*shape, 1)
    halves = np.stack([starts, starts + window / 2], axis=-1)
    logs = _noise(study.noise, draw, halves, window[..., None] / 2, order)
    since = plan.washout_seconds + np.where(stays, window, 0.0)
    since = np.stack([since, since + window / 2], axis=-1) + window[..., None] / 4
    for number, level in enumerate(study.levels):
        response = level.amplitude * np.exp(-since / level.seconds)
        logs += np.where(order[..., None] == number, level.log_rate + response, 0.0)
    place = np.argsort(order, axis=3, kind="stable")
    by_level = np.take_along_axis(logs, place[..., None], axis=3).reshape(*shape, count, 2, 2)
    switched = (place != count).reshape(*shape, count, 2)
    changes = np.where(switched, by_level[..., 1] - by_level[..., 0], 0.0)
    increments = changes.sum(axis=(2, 4)) / switched.sum(axis=(2, 4))
    return np.exp(by_level).mean(axis=(2, 4, 5)), increments


def _noise(
    shape: WindowNoise,
    draw: np.random.Generator,
    starts: Array,
    half: Array,
    order: NDArray[np.int64],
) -> Array:
    white = draw.standard_normal(starts.shape)
    flat = starts.shape[0], int(np.prod(starts.shape[1:]))
    match shape:
        case WindowNoise.WHITE:
            return 0.1 * white
        case WindowNoise.UNEQUAL:
            deviation = 0.1 * np.where(order[..., None] == 0, 1.0, 3.0)
            return deviation * white - deviation**2 / 2  # equal means
        case WindowNoise.AR1:
            slow = autocorrelated(draw.standard_normal(flat), phi=0.99).reshape(starts.shape)
            return 0.1 * slow + 0.05 * white
        case WindowNoise.WALK:
            slow = draw.standard_normal(flat).cumsum(axis=1).reshape(starts.shape)
            return 0.005 * slow + 0.05 * white
        case WindowNoise.SPIKES:
            return 0.05 * white + math.log(0.5) * (draw.random(starts.shape) < 0.1)
        case WindowNoise.LIMITER:
            phase = draw.uniform(0, PERIOD_SECONDS, starts.shape[0]).reshape(-1, *[1] * 4)
            begin = starts + phase
            full = (_full_seconds(begin + half) - _full_seconds(begin)) / half
            return np.log(0.5 + 0.5 * full) + 0.03 * white
    assert_never(shape)


def _full_seconds(at: Array) -> Array:
    """Return the seconds at the full rate before a time."""
    periods, rest = np.divmod(at, PERIOD_SECONDS)
    full = FULL_SHARE * PERIOD_SECONDS
    return np.asarray(periods * full + np.minimum(rest, full))
