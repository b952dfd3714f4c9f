"""Response curves and importance of parameters, with credible intervals.

In the model of `surrogate` the curve of a parameter is the constant plus its main effect. That is
the performance relative to the default at each value, averaged over all other parameters (for a
conditional parameter, where its condition holds). Its importance is the variance of its main effect
over the space, as a share of the variance of all terms (functional ANOVA: Hutter, Hoos &
Leyton-Brown 2014). Intervals are quantiles over posterior draws. They are pointwise, not
simultaneous for the curve.

There is no result from too few candidates. Importance requires that the candidates differ by more
than their noise, by Cochran's test of homogeneity (1954) with the noise's degrees of freedom,
because shares always add up to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.distributions import f_tail
from iostudy_search.optimizer import surrogate
from iostudy_search.optimizer.candidates import CandidateResult, SearchPolicy, stack_ratios
from iostudy_search.optimizer.estimates import estimate_candidates
from iostudy_search.optimizer.propose import latin_hypercube
from iostudy_search.optimizer.space import Parameter, Point, SearchSpace

Array = NDArray[np.float64]
VariedParameter = tuple[Parameter, tuple[str, ...]]
"""A parameter and the values of its curve."""

MIN_CANDIDATES = 8
MIN_CANDIDATES_PER_PARAMETER = 3
"""Smallest numbers of candidates, in total and per parameter."""

CURVE_POINTS = 25
"""The number of values of a range's curve."""

INTERVAL_LEVEL = 0.05
"""The level of the intervals."""

HOMOGENEITY_LEVEL = 0.01
"""The level of the test of homogeneity. A race keeps the estimate that dropped a candidate; at
5 % one in six flat searches would have an importance."""

INTEGRATION_POINTS = 128
"""Points that represent the space for the interaction."""


@dataclass(frozen=True)
class MainEffectCurve:
    """Performance relative to the default by value: log-ratios with pointwise 95 % intervals."""

    parameter: str
    values: tuple[str, ...]
    effect: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Importance:
    """A share of the explained variance (0 to 1): median and 95 % interval.

    ``parameter`` is None for the interaction.
    """

    parameter: str | None
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class ResponseModel:
    """Curves and importance; the latter is empty if candidates differ by no more than noise."""

    candidates: int
    curves: tuple[MainEffectCurve, ...]
    importance: tuple[Importance, ...]


def estimate_response(
    space: SearchSpace, candidates: Sequence[CandidateResult], rules: SearchPolicy, seed: int
) -> ResponseModel | None:
    """Estimate curves and importance; None with too few candidates or without a variance.

    The minimum is 8 candidates, and 3 per parameter.
    """
    ratios, shares = stack_ratios(candidates, rules)
    estimates = estimate_candidates(ratios, shares)
    valid = [
        index
        for index, candidate in enumerate(candidates)
        if np.isfinite(estimates.value[index]) and not candidate.refused
    ]
    points = [candidates[index].point for index in valid]
    varied = _varied_parameters(space, points)
    enough = len(valid) >= max(MIN_CANDIDATES, MIN_CANDIDATES_PER_PARAMETER * len(varied)) and bool(
        estimates.freedom.all()
    )
    if not varied or not enough:
        return None
    y, covariance = estimates.value[valid], estimates.covariance[np.ix_(valid, valid)]
    over = latin_hypercube(space, INTEGRATION_POINTS, seed)
    drawn = surrogate.draw_posterior(_parts(varied, over, points), y, covariance, seed)
    curves = _curves(varied, drawn)
    heterogeneous = _is_heterogeneous(y, covariance, float(estimates.freedom.min()))
    return ResponseModel(
        len(valid), curves, _importance(varied, over, drawn) if heterogeneous else ()
    )


def _varied_parameters(space: SearchSpace, points: Sequence[Point]) -> list[VariedParameter]:
    """Return the parameters with at least two tried values, and the values of their curves."""
    return [
        (parameter, parameter.domain.spread(CURVE_POINTS))
        for parameter in space.parameters
        if len({point[parameter.name] for point in points if parameter.name in point}) > 1
    ]


def _parts(
    varied: Sequence[VariedParameter],
    over: Sequence[Point],
    points: Sequence[Point],
) -> list[surrogate.ModelTerm]:
    parts = [surrogate.main_effect_term(parameter, values, points) for parameter, values in varied]
    if len(varied) > 1:
        parts.append(surrogate.interaction_term(varied, over, points))
    return parts


def _curves(
    varied: Sequence[VariedParameter], drawn: surrogate.PosteriorDraws
) -> tuple[MainEffectCurve, ...]:
    """Add each main effect to the constant; for a conditional one, to its condition's curve."""
    curves: dict[str, tuple[tuple[str, ...], Array]] = {}
    for (parameter, values), effect in zip(varied, drawn.parts, strict=False):
        base, condition = drawn.constant, parameter.condition
        if condition and condition.name in curves:
            names, draws = curves[condition.name]
            base = draws[:, [names.index(name) for name in condition.values]].mean(axis=1)
        curves[parameter.name] = values, base[:, None] + effect
    return tuple(_curve(name, values, draws) for name, (values, draws) in curves.items())


def _curve(name: str, values: tuple[str, ...], draws: Array) -> MainEffectCurve:
    low, high = np.quantile(draws, [INTERVAL_LEVEL / 2, 1 - INTERVAL_LEVEL / 2], axis=0)
    return MainEffectCurve(name, values, draws.mean(axis=0), low, high)


def _importance(
    varied: Sequence[VariedParameter],
    over: Sequence[Point],
    drawn: surrogate.PosteriorDraws,
) -> tuple[Importance, ...]:
    """Shares of the variance over the space; a main effect counts where its parameter is active."""
    there = [np.mean([parameter.name in point for point in over]) for parameter, _ in varied]
    names = [parameter.name for parameter, _ in varied]
    variances = np.array(
        [
            (effect**2).mean(axis=1) * part
            for effect, part in zip(drawn.parts, [*there, 1.0], strict=False)
        ]
    )
    shares = variances / variances.sum(axis=0)
    low, median, high = np.quantile(
        shares, [INTERVAL_LEVEL / 2, 0.5, 1 - INTERVAL_LEVEL / 2], axis=1
    )
    return tuple(
        Importance(name, float(median[index]), float(low[index]), float(high[index]))
        for index, name in enumerate([*names, None][: len(shares)])
    )


def _is_heterogeneous(y: Array, covariance: Array, freedom: float) -> bool:
    """Whether the candidates differ by more than their correlated errors."""
    if not covariance.any():
        return bool(np.ptp(y) > 0)
    inverse = np.linalg.inv(covariance)
    residual = y - inverse.sum(axis=0) @ y / inverse.sum()
    count = len(y) - 1
    return bool(f_tail(count, freedom, residual @ inverse @ residual / count) < HOMOGENEITY_LEVEL)
