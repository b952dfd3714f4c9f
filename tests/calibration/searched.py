"""Simulated searches: proposals and races by the code that makes real ones, then a confirmation.

Noise continues in run order through all blocks of the search and of the confirmation, and in each
block the default and the candidates are laid over it in random order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from iostudy.analysis.rule import Rule
from iostudy.analysis.verdict import Verdict
from iostudy_search.optimizer.candidates import CandidateResult, SearchPolicy
from iostudy_search.optimizer.propose import propose
from iostudy_search.optimizer.race import run_race
from iostudy_search.optimizer.response import CURVE_POINTS, estimate_response
from iostudy_search.optimizer.space import Parameter, Point, Range, SearchSpace
from tests.calibration.simulation import NOISE, SEED, Array, NoiseShape, carry_out, noise

READ_AHEAD = Parameter("read_ahead_kb", Range(128, 32768, log=True, step=4))
REQUESTS = Parameter("nr_requests", Range(32, 512, log=True))
SPACE = SearchSpace((READ_AHEAD, REQUESTS))

OPTIMUM = math.log(1.10)
CANDIDATES = 20
RULES = SearchPolicy(first=8, slots=4)
TO_THE_END = SearchPolicy(first=8, slots=4, rungs=(8,))
"""Without a race: every candidate runs all eight blocks."""

LONGEST = 500
"""More trials than any search has, so that a drift over the study is one over them."""

Surface = Callable[[Point], float]


def flat(_point: Point) -> float:
    """Nothing differs from the default."""
    return 0.0


def parabola(point: Point) -> float:
    """10 % over the default at the optimum, and as much below it at the far end."""
    first, second = (p.domain.share(point[p.name]) for p in SPACE.parameters)
    return OPTIMUM * (1 - 3 * (first - 0.7) ** 2 - (second - 0.4) ** 2)


@dataclass(frozen=True)
class SimulatedSearch:
    """One search and its confirmation; log-ratios to the default.

    ``truth`` is that of the winner, ``estimate`` what the search said of it, ``confirmed`` what its
    fresh blocks said; 0 where the default stays. ``trials``: of candidates, in the search.
    """

    truth: float
    estimate: float
    confirmed: float
    verdict: Verdict | None
    trials: int


@dataclass(frozen=True)
class SimulatedMachine:
    """Gives the blocks of one simulated study, with its noise in run order."""

    surface: Surface
    noise: Iterator[float]
    draw: np.random.Generator

    def block(self, points: list[Point]) -> Array:
        """The log-ratio of each of these points to the default, in one block."""
        trials = NOISE * np.array([next(self.noise) for _ in range(len(points) + 1)])
        default, *others = self.draw.permuted(trials)
        return np.array([self.surface(point) for point in points]) + np.array(others) - default


@dataclass(frozen=True)
class SearchRates:
    """What became of many searches; means of log-ratios, and shares of searches.

    ``claimed``: the confirmation called the winner better. ``near``: the winner is truly within 2 %
    of the optimum. ``gained``: its truth. ``overstated``, ``confirmed_off``: by how much the
    search, and the confirmation, put it above its truth. ``trials``: of candidates.
    """

    claimed: float
    near: float
    gained: float
    overstated: float
    confirmed_off: float
    trials: float


def simulate(
    shape: NoiseShape, surface: Surface, rule: Rule, rules: SearchPolicy, searches: int
) -> SearchRates:
    """Many searches, each with noise and proposals of its own."""
    found = [search(shape, surface, rule, rules, number) for number in range(searches)]
    outcomes = [
        (
            each.verdict is Verdict.BETTER,
            each.truth >= OPTIMUM - 0.02,
            each.truth,
            each.estimate - each.truth,
            each.confirmed - each.truth,
            each.trials,
        )
        for each in found
    ]
    return SearchRates(*map(float, np.mean(outcomes, axis=0)))


def search(
    shape: NoiseShape, surface: Surface, rule: Rule, rules: SearchPolicy, number: int
) -> SimulatedSearch:
    """The search of this number, until ``CANDIDATES`` have raced, with its confirmation."""
    machine = _machine(shape, surface, number)
    candidates = explored(machine, rules, number)
    found = run_race(candidates, rules)
    trials = sum(entrant.blocks for entrant in found.entrants)
    if found.incumbent is None:
        return SimulatedSearch(0.0, 0.0, 0.0, None, trials)
    winner = candidates[found.incumbent].point
    ratios = np.array([machine.block([winner])[0] for _ in range(rule.max_blocks)])
    outcome = carry_out(ratios[None], rule)
    return SimulatedSearch(
        truth=surface(winner),
        estimate=found.entrants[found.incumbent].estimate,
        confirmed=float(ratios[: outcome.blocks[0]].mean()),
        verdict=Verdict(str(outcome.verdicts[0])),
        trials=trials,
    )


def explored(machine: SimulatedMachine, rules: SearchPolicy, seed: int) -> list[CandidateResult]:
    """All candidates, when the last of them has been dropped or gone all the way."""
    points: list[Point] = []
    rows: list[Array] = []
    while True:
        candidates = _candidate_results(points, rows)
        found = run_race(candidates, rules)
        free = min(found.free, CANDIDATES - len(points))
        new = propose(SPACE, candidates, free, seed, rules) if free else ()
        runs = [*found.runs, *range(len(points), len(points) + len(new))]
        if not runs:
            return candidates
        points += new
        row = np.full(CANDIDATES, np.nan)
        row[runs] = machine.block([points[index] for index in runs])
        rows.append(row)


def response_rates(surface: Surface, searches: int) -> tuple[float, float]:
    """Of what searches under normal noise say of the parameters.

    The share of a curve's values whose interval misses the truth, and that of searches which report
    an importance.
    """
    missed, reported = [], []
    for number in range(searches):
        candidates = explored(_machine(NoiseShape.NORMAL, surface, number), RULES, number)
        found = estimate_response(SPACE, candidates, RULES, number)
        assert found is not None
        reported.append(bool(found.importance))
        for curve, truth in zip(found.curves, true_curves(surface), strict=True):
            missed.append(np.mean((curve.low > truth) | (truth > curve.high)))
    return float(np.mean(missed)), float(np.mean(reported))


def true_curves(surface: Surface) -> list[Array]:
    """The mean of a surface at each value of each parameter, over those of the other."""
    first, second = (parameter.domain.spread(CURVE_POINTS) for parameter in SPACE.parameters)
    names = [parameter.name for parameter in SPACE.parameters]
    table = np.array(
        [[surface(dict(zip(names, (a, b), strict=True))) for b in second] for a in first]
    )
    return [table.mean(axis=1), table.mean(axis=0)]


def _machine(shape: NoiseShape, surface: Surface, number: int) -> SimulatedMachine:
    draw = np.random.default_rng([SEED, 8, list(NoiseShape).index(shape), number])
    return SimulatedMachine(surface, iter(noise(shape, draw, 1, LONGEST)[0]), draw)


def _candidate_results(points: list[Point], rows: list[Array]) -> list[CandidateResult]:
    blocks = np.array(rows).reshape(len(rows), CANDIDATES)
    return [CandidateResult(point, (blocks[:, index],)) for index, point in enumerate(points)]
