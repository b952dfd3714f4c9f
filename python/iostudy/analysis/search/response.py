"""What each parameter does over its range, and how much it matters, with intervals.

From the model of `surrogate`: the curve of a parameter is the constant plus its main effect. That
is the performance over the default at each of its values, averaged over all other parameters, and
over what its condition allows where it has one. Its
importance is the variance of its main effect over the space, as a share of that of everything that
the parameters explain (functional ANOVA: Hutter, Hoos & Leyton-Brown 2014). Each draw from the
posterior has its own curves and shares; their quantiles are the intervals. These hold pointwise, at
each value by itself, and not for the curve as a whole.

Nothing is told from too few candidates. Shares are told only if the candidates differ by more than
their noise: by the test of homogeneity (Cochran 1954), with the noise's degrees of freedom. Shares
of nothing add up to 1, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from iostudy.analysis.search import surrogate
from iostudy.analysis.search.candidates import CandidateResult, SearchPolicy, stacked
from iostudy.analysis.search.estimates import estimate
from iostudy.analysis.search.propose import hypercube
from iostudy.analysis.search.space import Parameter, Point, Space

Array = NDArray[np.float64]
Varied = tuple[Parameter, tuple[str, ...]]
"""A parameter, and the values at which it is told."""

FEWEST = 8
EACH = 3
"""Candidates in all, and for each parameter, below which nothing is told."""

VALUES = 25
"""At how many values of a range its curve is told."""

LEVEL = 0.05
"""Of the intervals."""

DIFFER = 0.01
"""Level of the test whether there is anything to explain. A race keeps what was dropped at the
estimate that had it dropped; at a level of 5 % one in six flat searches would be explained."""

OVER = 128
"""Points that stand for the space, for what no parameter does by itself."""


@dataclass(frozen=True)
class Curve:
    """Performance over the default at each value: log-ratios with pointwise 95 % intervals."""

    parameter: str
    values: tuple[str, ...]
    effect: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Importance:
    """A share of all that the parameters explain (0 to 1): median and 95 % interval.

    ``parameter`` is None for what none of them does by itself.
    """

    parameter: str | None
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Response:
    """``importance`` is empty where the candidates do not differ by more than their noise."""

    candidates: int
    curves: tuple[Curve, ...]
    importance: tuple[Importance, ...]


def response(
    space: Space, seen: Sequence[CandidateResult], rules: SearchPolicy, seed: int
) -> Response | None:
    """What the candidates say of each parameter; None where they are too few.

    They are too few below 8, or 3 for each parameter, or as long as their noise is not known.
    """
    ratios, shares = stacked(seen, rules)
    found = estimate(ratios, shares)
    known = [
        index
        for index, each in enumerate(seen)
        if np.isfinite(found.value[index]) and not each.refused
    ]
    points = [seen[index].point for index in known]
    varied = _varied(space, points)
    enough = len(known) >= max(FEWEST, EACH * len(varied)) and bool(found.freedom.all())
    if not varied or not enough:
        return None
    y, covariance = found.value[known], found.covariance[np.ix_(known, known)]
    over = hypercube(space, OVER, seed)
    drawn = surrogate.draw(_parts(varied, over, points), y, covariance, seed)
    curves = _curves(varied, drawn)
    differ = _differ(y, covariance, float(found.freedom.min()))
    return Response(len(known), curves, _importance(varied, over, drawn) if differ else ())


def _varied(space: Space, points: Sequence[Point]) -> list[Varied]:
    """The parameters of which at least two values were tried, with those at which to tell them."""
    return [
        (parameter, parameter.domain.spread(VALUES))
        for parameter in space.parameters
        if len({point[parameter.name] for point in points if parameter.name in point}) > 1
    ]


def _parts(
    varied: Sequence[Varied],
    over: Sequence[Point],
    points: Sequence[Point],
) -> list[surrogate.Part]:
    parts = [surrogate.main_effect(parameter, values, points) for parameter, values in varied]
    if len(varied) > 1:
        parts.append(surrogate.interaction(varied, over, points))
    return parts


def _curves(varied: Sequence[Varied], drawn: surrogate.Drawn) -> tuple[Curve, ...]:
    """The constant with each main effect; under a condition, with the effect of that."""
    told: dict[str, tuple[tuple[str, ...], Array]] = {}
    for (parameter, values), effect in zip(varied, drawn.parts, strict=False):
        base, condition = drawn.constant, parameter.condition
        if condition and condition.name in told:
            names, draws = told[condition.name]
            base = draws[:, [names.index(name) for name in condition.values]].mean(axis=1)
        told[parameter.name] = values, base[:, None] + effect
    return tuple(_curve(name, values, draws) for name, (values, draws) in told.items())


def _curve(name: str, values: tuple[str, ...], draws: Array) -> Curve:
    low, high = np.quantile(draws, [LEVEL / 2, 1 - LEVEL / 2], axis=0)
    return Curve(name, values, draws.mean(axis=0), low, high)


def _importance(
    varied: Sequence[Varied],
    over: Sequence[Point],
    drawn: surrogate.Drawn,
) -> tuple[Importance, ...]:
    """Shares of the variance over the space; a main effect counts where its parameter is there."""
    there = [np.mean([parameter.name in point for point in over]) for parameter, _ in varied]
    names = [parameter.name for parameter, _ in varied]
    variances = np.array(
        [
            (effect**2).mean(axis=1) * part
            for effect, part in zip(drawn.parts, [*there, 1.0], strict=False)
        ]
    )
    shares = variances / variances.sum(axis=0)
    low, median, high = np.quantile(shares, [LEVEL / 2, 0.5, 1 - LEVEL / 2], axis=1)
    return tuple(
        Importance(name, float(median[index]), float(low[index]), float(high[index]))
        for index, name in enumerate([*names, None][: len(shares)])
    )


def _differ(y: Array, covariance: Array, freedom: float) -> bool:
    """Whether the candidates differ by more than their errors, which are correlated."""
    if not covariance.any():
        return bool(np.ptp(y) > 0)
    inverse = np.linalg.inv(covariance)
    residual = y - inverse.sum(axis=0) @ y / inverse.sum()
    count = len(y) - 1
    return bool(special.fdtrc(count, freedom, residual @ inverse @ residual / count) < DIFFER)
