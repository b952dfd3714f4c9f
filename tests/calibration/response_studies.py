"""Simulated switchback studies from the pilot to the verdict, with responses to switches.

The pilot, the rounds and their noise are simulated in continuous time; bounds, windows, intervals
and verdicts come from the code of real studies. Every comparison stops at its own verdict, but all
configurations stay in the rounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import signal

from iostudy.analysis.rule import Rule
from iostudy.analysis.switchback.block_plan import BlockPlan, plan_blocks
from iostudy.analysis.switchback.response import estimate_response
from iostudy.analysis.switchback.slow_response import (
    LongStay,
    SlowCheck,
    StayCounts,
    count_stays,
    long_stay_seconds,
)
from iostudy.analysis.switchback.window_plan import (
    BOUND_SHARE,
    FIRST_LOOK,
    TOLERANCES,
    Pilot,
    WindowPlan,
    bound_level,
    choose_windows,
)
from iostudy.analysis.verdict import Verdict
from iostudy.execution.switchback.pilot import (
    CURVE_CONSTANTS,
    CURVES,
    SHORTEST_CURVE_SECONDS,
    STEADY_SECONDS,
    measure_excess_variance,
)
from tests.calibration.simulation import Array, carry_out

MARGIN, RISK, SECONDS = 0.05, 0.05, 300.0
BIN, SWITCH = 0.02, 0.01
_GAP = round(SWITCH / BIN) + 1
"""Bins from the end of a curve to the next one."""
OPERATIONS = 10_000.0
"""A second."""
TOLERANCE = max(TOLERANCES) * math.log1p(MARGIN)


@dataclass(frozen=True)
class SimulatedLevel:
    """A configuration: its final log rate, and the response to a switch to it.

    The rate begins at ``start`` times the final one, and approaches it with ``constant`` seconds.
    The pilot excludes time constants up to ``declared`` seconds. ``white`` is the deviation of its
    own noise in bins of 0.02 s, whose mean rate is the final one.
    """

    rate: float = 0.0
    start: float = 1.0
    constant: float = 1.0
    declared: float = 0.02
    white: float = 0.0

    def draw(self, draw: np.random.Generator, starts: Array, seconds: float) -> Array:
        """Return the log rates of windows that start so long after the switch."""
        share = seconds / self.constant
        rest = np.exp(-starts / self.constant) * -math.expm1(-share) / share
        means = self.rate + np.log1p((self.start - 1) * rest)
        sd = self.white * math.sqrt(BIN / seconds)
        return np.asarray(means - sd**2 / 2 + sd * draw.standard_normal(starts.shape))


@dataclass(frozen=True)
class Noise:
    """Noise of a log rate: white in bins of 0.02 s, and slow AR(1) with a time constant."""

    white: float = 0.1
    slow: float = 0.05
    seconds: float = 2.0

    def draw(self, draw: np.random.Generator, times: Array, window: float) -> Array:
        """Return the noise of windows at ascending times, of equal length."""
        count = math.ceil(times.max() / BIN) + 2
        phi = math.exp(-BIN / self.seconds)
        steps = math.sqrt(1 - phi**2) * draw.standard_normal(count)
        slow, _ = signal.lfilter([1.0], [1.0, -phi], steps, zi=[phi * draw.standard_normal()])
        own = self.white * math.sqrt(BIN / window) * draw.standard_normal(times.shape)
        return np.asarray(self.slow * np.interp(times, BIN * np.arange(count), slow) + own)


@dataclass(frozen=True)
class StudyOutcome:
    """The plan of a study, None for whole trials, and the verdict on every other level.

    ``seconds`` are those of the pilot without long stays and of the windows.
    """

    plan: WindowPlan | None
    verdicts: tuple[Verdict, ...] = ()
    seconds: float = 0.0
    stay_seconds: float = 0.0


def simulate_study(
    draw: np.random.Generator,
    levels: Sequence[SimulatedLevel],
    noise: Noise,
    seconds: float = SECONDS,
) -> StudyOutcome:
    """Simulate the pilot, the plan and all rounds of a study of one workload.

    ``seconds`` are the longest time of its windows.
    """
    comparisons, delta = len(levels) - 1, math.log1p(MARGIN)
    risk = RISK * (1 - BOUND_SHARE)
    pilot, curves, steady = _simulate_pilot(draw, levels, noise)
    plan = choose_windows(pilot, delta, risk / comparisons, seconds)
    if plan is None:
        return StudyOutcome(None)
    slow, stay_seconds = _check_slow(draw, levels, noise, plan, curves, steady, seconds)
    if slow:
        return StudyOutcome(None, stay_seconds=stay_seconds)
    planned = plan_blocks({"": plan})
    rule = Rule(MARGIN, risk, FIRST_LOOK, planned.max_blocks, comparisons, bias=plan.bias)
    logs = simulate_blocks(draw, levels, noise, plan, planned)
    ended = [
        carry_out((logs[:, each] - logs[:, 0])[np.newaxis], rule) for each in range(1, len(levels))
    ]
    (rounds,) = planned.rounds.values()
    blocks = max(int(own.blocks[0]) for own in ended)
    return StudyOutcome(
        plan,
        tuple(Verdict(str(own.verdicts[0])) for own in ended),
        pilot_seconds(levels) + blocks * rounds * plan.round_seconds,
        stay_seconds,
    )


def is_wrong(verdict: Verdict, difference: float) -> bool:
    """Return whether a verdict contradicts the true log-ratio."""
    match verdict:
        case Verdict.BETTER:
            return difference <= 0
        case Verdict.WORSE:
            return difference >= 0
        case Verdict.EQUIVALENT:
            return abs(difference) >= math.log1p(MARGIN)
        case Verdict.INCONCLUSIVE:
            return False


def simulate_blocks(
    draw: np.random.Generator,
    levels: Sequence[SimulatedLevel],
    noise: Noise,
    plan: WindowPlan,
    blocks: BlockPlan,
) -> Array:
    """Return the log figures of all blocks of the only workload, blocks x levels."""
    (rounds_of_block,) = blocks.rounds.values()
    rounds, window = blocks.max_blocks * rounds_of_block, plan.window_seconds
    order = draw.permuted(np.tile(np.arange(len(levels)), (rounds, 1)), axis=1)
    washouts = np.array([plan.washout_seconds[str(each)] for each in range(len(levels))])
    lead = washouts[order]
    lead[:, 0] += window
    ends = np.cumsum((SWITCH + lead + window).ravel()).reshape(order.shape)
    logs = noise.draw(draw, ends - window / 2, window)
    for number, level in enumerate(levels):
        own = order == number
        logs[own] += level.draw(draw, lead[own], window)
    by_level = np.take_along_axis(logs, np.argsort(order, axis=1), axis=1)
    rates = np.exp(by_level).reshape(blocks.max_blocks, rounds_of_block, len(levels))
    return np.asarray(np.log(rates.mean(axis=1)))


def pilot_seconds(levels: Sequence[SimulatedLevel]) -> float:
    """Return the duration of a pilot without its long stays."""
    return STEADY_SECONDS + CURVES * sum(SWITCH + _curve_seconds(own) for own in levels)


def _check_slow(
    draw: np.random.Generator,
    levels: Sequence[SimulatedLevel],
    noise: Noise,
    plan: WindowPlan,
    curves: Sequence[Array],
    steady: LongStay,
    seconds: float,
) -> tuple[bool, float]:
    """Return whether a level is slow, and the time of the long stays."""
    lengths = [long_stay_seconds(own.declared) for own in levels]
    follow = [_choose_following(levels, number) for number in range(len(levels))]
    times = [
        own + 2 * _curve_seconds(levels[other]) for own, other in zip(lengths, follow, strict=True)
    ]
    counts = count_stays(plan, pilot_seconds(levels), sum(lengths[1:]), seconds)
    spent = [0.0]

    def measure(number: int) -> LongStay:
        spent[0] += 3 * SWITCH + times[number]
        following = levels[follow[number]]
        return _simulate_stay(draw, noise, levels[number], following, lengths[number])

    def is_slow(number: int) -> bool:
        pair = curves[number], curves[follow[number]]
        check = SlowCheck(*pair, BIN, levels[number].declared, TOLERANCE)
        own_counts = counts if number else StayCounts(0, counts.most)
        return check.is_slow(own_counts, partial(measure, number), () if number else (steady,))

    slow = [is_slow(number) for number in range(len(levels))]
    return any(slow), spent[0]


def _choose_following(levels: Sequence[SimulatedLevel], own: int) -> int:
    others = (number for number in range(len(levels)) if number != own)
    return min(others, key=lambda number: levels[number].declared)


def _simulate_stay(
    draw: np.random.Generator,
    noise: Noise,
    own: SimulatedLevel,
    following: SimulatedLevel,
    seconds: float,
) -> LongStay:
    """Return a long stay and the curve that follows."""
    bins, curve = _bins(seconds), _bins(_curve_seconds(following))
    times = BIN * (np.arange(bins + _GAP + curve) + draw.random())
    logs = noise.draw(draw, times, BIN)
    stay = logs[:bins] + own.draw(draw, _after_switch(draw, bins), BIN)
    return LongStay(np.exp(stay), _respond(draw, logs[bins + _GAP :], following))


def _respond(draw: np.random.Generator, noise: Array, level: SimulatedLevel) -> Array:
    """Return the rates of a curve of the level, in this noise."""
    return np.exp(noise + level.draw(draw, _after_switch(draw, len(noise)), BIN))


def _after_switch(draw: np.random.Generator, bins: int) -> Array:
    """Return the times of bins; the first one begins up to one bin after the switch."""
    return np.asarray(BIN * (np.arange(bins) + draw.random()))


def _simulate_pilot(
    draw: np.random.Generator, levels: Sequence[SimulatedLevel], noise: Noise
) -> tuple[Pilot, list[Array], LongStay]:
    """Return the pilot, the curves of every level, and the steady baseline."""
    steady = _bins(STEADY_SECONDS)
    counts = [_bins(_curve_seconds(own)) for own in levels]
    following = _choose_following(levels, 0)
    total = steady + _GAP + counts[following] + CURVES * (sum(counts) + _GAP * len(levels))
    series = noise.draw(draw, BIN * (np.arange(total) + 0.5), BIN)
    curves: list[list[Array]] = [[] for _ in levels]
    place = steady

    def measure(number: int) -> Array:
        nonlocal place
        place += _GAP + counts[number]
        return _respond(draw, series[place - counts[number] : place], levels[number])

    baseline = LongStay(np.exp(series[:steady]), measure(following))
    for _ in range(CURVES):
        for number in draw.permutation(len(levels)):
            curves[number].append(measure(number))
    stacked = [np.stack(own) for own in curves]
    level = bound_level(RISK, len(levels))
    pilot = Pilot(
        rates=baseline.rates,
        bin_seconds=BIN,
        operation_rate=OPERATIONS,
        responses={
            str(number): estimate_response(own, BIN, levels[number].declared, level)
            for number, own in enumerate(stacked)
        },
        switch_seconds=dict.fromkeys(map(str, range(len(levels))), SWITCH),
        min_operations=20,
        excess_variance=measure_excess_variance(baseline.rates, stacked),
    )
    return pilot, stacked, baseline


def _curve_seconds(level: SimulatedLevel) -> float:
    return max(SHORTEST_CURVE_SECONDS, CURVE_CONSTANTS * level.declared)


def _bins(seconds: float) -> int:
    return math.ceil(seconds / BIN)
