"""Proposal of the next candidates of a search.

The first points are a Latin hypercube (McKay, Beckman & Conover 1979), spread evenly along every
parameter; for a conditional parameter, over the points that have it. Later points come from
Optuna's tree-structured Parzen estimator (Bergstra et al. 2011) with all results. The estimator
ignores noise. Each estimate is therefore shrunk towards the mean of all by its own error, as in
empirical Bayes (Efron & Morris 1975), so that a favourable first block has little influence:

    shrunken = m + (y - m) T / (T + v),    m, T: mean, variance of all estimates y; v: squared error

T also contains noise and is rather too large, so that shrinkage never reverses the order of two
candidates with small errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count, islice
from typing import TYPE_CHECKING, assert_never

import numpy as np

from iostudy_search.optimizer.candidates import CandidateResult, SearchPolicy
from iostudy_search.optimizer.race import Entrant, run_race
from iostudy_search.optimizer.space import Choices, Domain, Parameter, Point, Range, SearchSpace

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial, Trial

EXTRA_DRAWS = 20
"""Additional draws from the estimator before random points follow."""

MAX_ENUMERATED_POINTS = 10_000
"""The largest space that is enumerated; in larger ones random points are soon new."""


def propose(
    space: SearchSpace,
    candidates: Sequence[CandidateResult],
    wanted: int,
    seed: int,
    rules: SearchPolicy,
) -> tuple[Point, ...]:
    """Propose new points; fewer than ``wanted`` only if the space has no more.

    Determined by its arguments. ``candidates`` includes waiting and refused ones; none of them is
    proposed again.
    """
    taken = {space.canonical(candidate.point) for candidate in candidates}
    number = min(wanted, space.size - len(taken))
    seeds = np.random.SeedSequence([seed, len(candidates)]).generate_state(2)
    points = chain(
        latin_hypercube(space, rules.first, seed),
        islice(_parzen_points(space, candidates, int(seeds[0]), rules), number + EXTRA_DRAWS),
        _random_points(space, int(seeds[1])),
    )
    return tuple(islice(_new_points(space, points, taken), max(0, number)))


def latin_hypercube(space: SearchSpace, points: int, seed: int) -> list[Point]:
    """Return a Latin hypercube: each parameter's values spread over the points that have it."""
    # Imported here because it takes a third of a second, and most studies are not searches.
    from scipy.stats import qmc

    cube = qmc.LatinHypercube(len(space.parameters), scramble=False, rng=seed).random(points)
    made: list[dict[str, str]] = [{} for _ in range(points)]
    for parameter, column in zip(space.parameters, cube.T, strict=True):
        having = [index for index, point in enumerate(made) if parameter.is_active(point)]
        places = (column[having].argsort().argsort() + 0.5) / max(1, len(having))
        for index, share in zip(having, places, strict=True):
            made[index][parameter.name] = parameter.domain.quantile(float(share))
    return list(made)


def _new_points(
    space: SearchSpace, points: Iterator[Point], taken: set[tuple[tuple[str, str], ...]]
) -> Iterator[Point]:
    """Yield each new point once."""
    taken = set(taken)
    for point in points:
        form = space.canonical(point)
        if form not in taken:
            taken.add(form)
            yield dict(form)


def _random_points(space: SearchSpace, seed: int) -> Iterator[Point]:
    """Yield random points: all points of a small space, an endless sequence of a large one."""
    draw = np.random.default_rng(seed)
    if space.size <= MAX_ENUMERATED_POINTS:
        points = list(space.points())
        return (points[index] for index in draw.permutation(len(points)))
    return (_random_point(space, draw) for _ in count())


def _random_point(space: SearchSpace, draw: np.random.Generator) -> Point:
    point: dict[str, str] = {}
    for parameter in space.parameters:
        if parameter.is_active(point):
            point[parameter.name] = parameter.domain.quantile(draw.random())
    return point


def _parzen_points(
    space: SearchSpace, candidates: Sequence[CandidateResult], seed: int, rules: SearchPolicy
) -> Iterator[Point]:
    """Yield points of the tree-structured Parzen estimator without end."""
    # Slow to import, and only searches need it.
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    # Unconditional parameters are sampled jointly, conditional ones individually.
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=1)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.add_trials(_past_trials(space, candidates, rules))
    while True:
        trial = study.ask()
        point: dict[str, str] = {}
        for parameter in space.parameters:
            if parameter.is_active(point):
                point[parameter.name] = _suggested(trial, parameter)
        yield point


def _suggested(trial: Trial, parameter: Parameter) -> str:
    match parameter.domain:
        case Range() as range_:
            multiple = trial.suggest_int(parameter.name, range_.first, range_.last, log=range_.log)
            return range_.text(multiple)
        case Choices(names):
            return trial.suggest_categorical(parameter.name, names)
    assert_never(parameter.domain)


def _past_trials(
    space: SearchSpace, candidates: Sequence[CandidateResult], rules: SearchPolicy
) -> list[FrozenTrial]:
    """Return all results as trials of Optuna.

    Candidates without a block and refused ones are running trials, which the estimator avoids.
    """
    # Slow to import, as above.
    from optuna.trial import TrialState, create_trial

    entrants = run_race(candidates, rules).entrants
    values = iter(_shrink_estimates([entrant for entrant in entrants if entrant.is_known]))
    trials = []
    for candidate, entrant in zip(candidates, entrants, strict=True):
        active = space.active(candidate.point)
        params = {p.name: _internal(p.domain, candidate.point[p.name]) for p in active}
        domains = {p.name: _distribution(p.domain) for p in active}
        if entrant.is_known:
            limits = _constraint_violations(entrant, rules)
            trial = create_trial(
                value=next(values), constraints=limits, params=params, distributions=domains
            )
        else:
            trial = create_trial(state=TrialState.RUNNING, params=params, distributions=domains)
        trials.append(trial)
    return trials


def _internal(domain: Domain, text: str) -> int | str:
    return domain.multiple(text) if isinstance(domain, Range) else text


def _distribution(domain: Domain) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, IntDistribution

    match domain:
        case Range() as range_:
            return IntDistribution(range_.first, range_.last, log=range_.log)
        case Choices(names):
            return CategoricalDistribution(names)
    assert_never(domain)


def _constraint_violations(entrant: Entrant, rules: SearchPolicy) -> dict[str, float]:
    """Return by how much each workload falls below the allowed worst; above 0 if it does."""
    if rules.worst is None:
        return {}
    return {
        str(workload): rules.worst - ratio for workload, ratio in enumerate(entrant.by_workload)
    }


def _shrink_estimates(entrants: Sequence[Entrant]) -> list[float]:
    """Return shrunken estimates, or the estimates themselves without a variance."""
    values = np.array([entrant.estimate for entrant in entrants])
    if len(values) < 2 or np.ptp(values) == 0:
        return [float(value) for value in values]
    errors = np.nan_to_num([entrant.error for entrant in entrants])
    spread, mean = values.var(), values.mean()
    return [float(value) for value in mean + (values - mean) * spread / (spread + errors**2)]
