"""Which candidates to try next.

The first points are a Latin hypercube (McKay, Beckman & Conover 1979): along every parameter they
are spread evenly, and of a parameter that is not always there, those which have it. After that
points come from Optuna's tree-structured Parzen estimator (Bergstra et al. 2011), which is given
all that was seen. It knows no noise; so that a lucky candidate of one block does not lead it, each
estimate is shrunk towards the mean of all by its own error, as in empirical Bayes (Efron & Morris
1975):

    told = m + (y - m) T / (T + v),    m, T: mean and variance of all estimates y, v: error squared

T holds the noise, too, which makes it rather too large: the order of two well-known candidates is
never turned round by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count, islice
from typing import TYPE_CHECKING, assert_never

import numpy as np

from iostudy.analysis.search.candidates import CandidateResult, SearchPolicy
from iostudy.analysis.search.race import Entrant, race
from iostudy.analysis.search.space import Choices, Domain, Parameter, Point, Range, Space

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial, Trial

ATTEMPTS = 20
"""How often the estimator may come back with points that were there, before chance takes over."""

LISTED = 10_000
"""Up to so many points a space is gone through; in a larger one a free point is soon met."""


def propose(
    space: Space, seen: Sequence[CandidateResult], wanted: int, seed: int, rules: SearchPolicy
) -> tuple[Point, ...]:
    """So many new points; fewer only where the space has no more.

    Determined by its arguments. ``seen`` are all candidates that there were, with those that wait
    or were refused; none of these is proposed again.
    """
    taken = {space.canonical(each.point) for each in seen}
    number = min(wanted, space.size - len(taken))
    own = np.random.SeedSequence([seed, len(seen)]).generate_state(2)
    points = chain(
        hypercube(space, rules.first, seed),
        islice(_estimated(space, seen, int(own[0]), rules), number + ATTEMPTS),
        _any(space, int(own[1])),
    )
    return tuple(islice(_fresh(space, points, taken), max(0, number)))


def hypercube(space: Space, points: int, seed: int) -> list[Point]:
    """A Latin hypercube: each parameter's values spread evenly over the points that have it."""
    # Here and not above: it takes a third of a second to load, and most studies are no searches.
    from scipy.stats import qmc

    cube = qmc.LatinHypercube(len(space.parameters), scramble=False, rng=seed).random(points)
    made: list[dict[str, str]] = [{} for _ in range(points)]
    for parameter, column in zip(space.parameters, cube.T, strict=True):
        having = [index for index, point in enumerate(made) if parameter.is_active(point)]
        places = (column[having].argsort().argsort() + 0.5) / max(1, len(having))
        for index, place in zip(having, places, strict=True):
            made[index][parameter.name] = parameter.domain.at(float(place))
    return list(made)


def _fresh(
    space: Space, points: Iterator[Point], taken: set[tuple[tuple[str, str], ...]]
) -> Iterator[Point]:
    """Those that were not there before, each once."""
    taken = set(taken)
    for point in points:
        form = space.canonical(point)
        if form not in taken:
            taken.add(form)
            yield dict(form)


def _any(space: Space, seed: int) -> Iterator[Point]:
    """Points by chance: every one of a small space, and without end of a large one."""
    draw = np.random.default_rng(seed)
    if space.size <= LISTED:
        points = list(space.points())
        return (points[index] for index in draw.permutation(len(points)))
    return (_drawn(space, draw) for _ in count())


def _drawn(space: Space, draw: np.random.Generator) -> Point:
    point: dict[str, str] = {}
    for parameter in space.parameters:
        if parameter.is_active(point):
            point[parameter.name] = parameter.domain.at(draw.random())
    return point


def _estimated(
    space: Space, seen: Sequence[CandidateResult], seed: int, rules: SearchPolicy
) -> Iterator[Point]:
    """What the tree-structured Parzen estimator would try, one after the other, without end."""
    # Slow to import, and needed by searches only.
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    # Parameters that are always there are sampled jointly, the others each by itself.
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=1)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.add_trials(_replayed(space, seen, rules))
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


def _replayed(
    space: Space, seen: Sequence[CandidateResult], rules: SearchPolicy
) -> list[FrozenTrial]:
    """All that was seen, as Optuna's trials.

    What has no block yet, or was refused, is told as running, which the estimator keeps away from.
    """
    # Slow to import, as above.
    from optuna.trial import TrialState, create_trial

    entrants = race(seen, rules).entrants
    values = iter(_shrunk([entrant for entrant in entrants if entrant.is_known]))
    trials = []
    for each, entrant in zip(seen, entrants, strict=True):
        active = space.active(each.point)
        params = {p.name: _internal(p.domain, each.point[p.name]) for p in active}
        domains = {p.name: _distribution(p.domain) for p in active}
        if entrant.is_known:
            limits = _excess(entrant, rules)
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


def _excess(entrant: Entrant, rules: SearchPolicy) -> dict[str, float]:
    """By how much each workload falls below the worst that is allowed; above 0 where it does."""
    if rules.worst is None:
        return {}
    return {str(workload): rules.worst - own for workload, own in enumerate(entrant.on)}


def _shrunk(entrants: Sequence[Entrant]) -> list[float]:
    """Estimates, shrunk as the module says; as they are where no noise is known."""
    values = np.array([entrant.estimate for entrant in entrants])
    if len(values) < 2 or np.ptp(values) == 0:
        return [float(value) for value in values]
    errors = np.nan_to_num([entrant.error for entrant in entrants])
    spread, mean = values.var(), values.mean()
    return [float(told) for told in mean + (values - mean) * spread / (spread + errors**2)]
