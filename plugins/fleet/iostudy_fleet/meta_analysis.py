"""Random-effects meta-analysis of one effect that several nodes measured.

Node i measured y_i with the variance v_i of its own noise. Its true effect is a draw of a normal
distribution with mean mu and variance tau^2. The weights are w_i = 1 / (v_i + tau^2).

- tau^2 solves Q(tau^2) = sum w_i (y_i - mu)^2 = k - 1 (Paule & Mandel 1982). Its interval is where
  Q meets quantiles of chi-squared (Viechtbauer 2007).
- The interval of mu is t with k - 1 degrees of freedom and the variance Q / ((k - 1) sum w_i)
  (Hartung & Knapp 2001, Sidik & Jonkman 2002).
- The prediction interval, of the true effect of one more node, averages the normal distribution
  N(mu(tau^2), tau^2 + 1 / sum w_i) over the confidence distribution of tau^2, which Q gives
  (as Nagashima, Noma & Furukawa 2019). A tau^2 estimated as 0 therefore does not count as known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike

from iostudy.analysis.distributions import (
    Array,
    chi_squared_quantile,
    f_tail,
    normal_cdf,
    t_cdf,
    t_quantile,
)
from iostudy.analysis.paired import Interval
from iostudy.analysis.root_finding import find_root

_MAX_STEPS = 200
_TOLERANCE = 1e-12
"""Relative change of tau^2 + v at which the iteration ends."""
_MOST_DEVIATIONS = 40.0
"""Standard deviations within which every quantile of a normal distribution lies."""
_DRAWS = 800
"""Points of the confidence distribution of tau^2. Without noise, where the interval is known, the
width is right to 0.2 % at a level of 1 %, and to 1.2 % at 0.2 % (2 nodes)."""


@dataclass(frozen=True)
class Effects:
    """Measured effects with the variances of their noise; at least two, all variances positive.

    ``freedoms`` are the degrees of freedom of the variances; infinite if a variance is known.
    """

    estimates: Array
    variances: Array
    freedoms: Array

    @property
    def count(self) -> int:
        """The number k of nodes."""
        return len(self.estimates)

    def without(self, index: int) -> Effects:
        """Return all but one."""
        parts = (self.estimates, self.variances, self.freedoms)
        return Effects(*(np.delete(part, index) for part in parts))


@dataclass(frozen=True)
class PooledEffect:
    """The mean effect over all nodes of a kind, and how much nodes differ."""

    effects: Effects
    tau_squared: float

    @cached_property
    def mean(self) -> float:
        """The estimate of mu."""
        return _means_of_all(self.effects, np.array([self.tau_squared])).item()

    @cached_property
    def standard_error(self) -> float:
        """The standard error of the mean by Hartung and Knapp."""
        tau_squared = np.array([self.tau_squared])
        q = _q(self.effects, tau_squared, _together(self.effects))
        total = float(_weights(self.effects, tau_squared).sum())
        return math.sqrt(q / (self.effects.count - 1) / total)

    @property
    def tau(self) -> float:
        """The standard deviation of true effects between nodes."""
        return math.sqrt(self.tau_squared)

    @property
    def i_squared(self) -> float:
        """The share of tau^2 in the variance of an estimate (Higgins & Thompson 2002)."""
        weights = 1 / self.effects.variances
        total = float(weights.sum())
        typical = (self.effects.count - 1) * total / (total**2 - float((weights**2).sum()))
        return self.tau_squared / (self.tau_squared + typical)

    def interval(self, alpha: float) -> Interval:
        """Return the interval of the mean."""
        quantile = -float(t_quantile(self.effects.count - 1, alpha / 2))
        half = quantile * self.standard_error
        return Interval(self.mean - half, self.mean + half)

    def tau_interval(self, alpha: float) -> tuple[float, float]:
        """Return the interval of tau."""
        targets = _chi_squared(self.effects.count - 1, [1 - alpha / 2, alpha / 2])
        low, high = _solve(self.effects, targets, _together(self.effects))
        return math.sqrt(low), math.sqrt(high)

    def prediction(self, alpha: float) -> Interval:
        """Return the interval of the true effect of one more node; it contains that of the mean."""
        draws = _solve(self.effects, _targets(self.effects.count - 1), _together(self.effects))
        means = _means_of_all(self.effects, draws)
        spreads = np.sqrt(draws + 1 / _weights(self.effects, draws).sum(axis=1))
        inner = self.interval(alpha)
        return Interval(
            min(inner.low, _mixture_quantile(means, spreads, alpha / 2)),
            max(inner.high, _mixture_quantile(means, spreads, 1 - alpha / 2)),
        )


def pool(estimates: Sequence[float], variances: Sequence[float]) -> PooledEffect:
    """Pool effects; ValueError for fewer than two, or a variance that is not positive."""
    return _pool(_check(estimates, variances))


@dataclass(frozen=True)
class OddEffect:
    """An effect unlike the others: its index, their distance, and the p value for all k tests.

    ``deviation`` is the effect minus the mean of the nodes that are not odd.
    """

    index: int
    deviation: float
    p_value: float


def find_odd_effects(
    estimates: Sequence[float],
    variances: Sequence[float],
    risk: float,
    freedoms: Sequence[float] | None = None,
) -> tuple[OddEffect, ...]:
    """Return the effects that do not belong to the distribution of the others, the oddest first.

    The generalised ESD procedure (Rosner 1983) with studentised deleted residuals of the
    random-effects model: the most extreme of n effects is removed, again and again up to a third of
    all, and each removal is tested at risk / n. All removals up to the last significant one count,
    so that two odd nodes cannot hide each other. ``risk`` is the probability of naming any of the
    nodes if all belong to one distribution. ``freedoms`` are those of the variances, by default
    infinite.
    """
    left, indices = _check(estimates, variances, freedoms), list(range(len(estimates)))
    removed: list[tuple[int, float]] = []
    for _ in range(len(estimates) // 3):
        extreme = _find_extreme(left)
        p_value = left.count * _outlier_p_value(left, extreme)
        removed.append((indices.pop(extreme), p_value))
        left = left.without(extreme)
    last = max((n for n, (_, p) in enumerate(removed, 1) if p <= risk), default=0)
    odd = removed[:last]
    rest = [n for n in range(len(estimates)) if n not in {index for index, _ in odd}]
    centre = pool([estimates[n] for n in rest], [variances[n] for n in rest]).mean
    return tuple(OddEffect(n, estimates[n] - centre, min(1.0, p)) for n, p in odd)


def compare_classes(
    estimates: Sequence[float], variances: Sequence[float], classes: Sequence[str]
) -> float:
    """Return the p value for equal mean effects of all classes, by Knapp & Hartung's F test (2003).

    tau^2 is that within classes. ValueError without two classes, or without more nodes than that.
    """
    effects = _check(estimates, variances)
    names, places = np.unique(list(classes), return_inverse=True)
    freedom = effects.count - len(names)
    if len(names) < 2 or freedom < 1:
        raise ValueError("classes can be compared if there are two, and more nodes than classes")
    members = np.eye(len(names))[places]
    tau_squared = _solve(effects, np.array([float(freedom)]), members)
    within, between = (_q(effects, tau_squared, groups) for groups in (members, _together(effects)))
    if within == 0:
        return 1.0 if between == 0 else 0.0
    f = (between - within) / (len(names) - 1) / (within / freedom)
    return float(f_tail(len(names) - 1, freedom, f))


def _check(
    estimates: Sequence[float], variances: Sequence[float], freedoms: Sequence[float] | None = None
) -> Effects:
    given = [math.inf] * len(estimates) if freedoms is None else freedoms
    effects = Effects(*(np.asarray(part, dtype=float) for part in (estimates, variances, given)))
    if effects.count < 2 or len(effects.variances) != effects.count:
        raise ValueError("at least two effects are needed, each with its variance")
    if not (np.isfinite(effects.estimates).all() and (effects.variances > 0).all()):
        raise ValueError("effects must be finite, and their variances positive")
    return effects


def _pool(effects: Effects) -> PooledEffect:
    tau_squared = _solve(effects, np.array([effects.count - 1.0]), _together(effects))
    return PooledEffect(effects, tau_squared.item())


def _together(effects: Effects) -> Array:
    """All nodes in one class, as a column of members."""
    return np.ones((effects.count, 1))


def _chi_squared(freedom: int, areas: ArrayLike) -> Array:
    """Return the x with P(X <= x) = area, for each area."""
    return np.array([chi_squared_quantile(freedom, 1 - area) for area in np.asarray(areas)])


@cache
def _targets(freedom: int) -> Array:
    """Return the quantiles at the middles of `_DRAWS` equal shares of chi-squared."""
    return _chi_squared(freedom, (np.arange(_DRAWS) + 0.5) / _DRAWS)


def _weights(effects: Effects, tau_squared: Array) -> Array:
    """Return a row of weights for each tau^2."""
    return np.asarray(1 / (effects.variances + tau_squared[:, None]))


def _means(effects: Effects, weights: Array, members: Array) -> Array:
    """Return the weighted mean of each class, a row for each row of weights."""
    return np.asarray(((weights * effects.estimates) @ members) / (weights @ members))


def _means_of_all(effects: Effects, tau_squared: Array) -> Array:
    """Return the mean over all nodes for each tau^2."""
    return _means(effects, _weights(effects, tau_squared), _together(effects))[:, 0]


def _terms(effects: Effects, weights: Array, members: Array) -> Array:
    """Return the terms of Q, a row for each row of weights."""
    means = _means(effects, weights, members)
    return np.asarray(weights * (effects.estimates - means @ members.T) ** 2)


def _q(effects: Effects, tau_squared: Array, members: Array) -> float:
    return float(_terms(effects, _weights(effects, tau_squared), members).sum())


def _solve(effects: Effects, targets: Array, members: Array) -> Array:
    """Return the tau^2 at which Q equals each target, 0 where Q is smaller even at 0.

    Q is convex and decreases, so that Newton's steps from 0 never pass the solution
    (DerSimonian & Kacker 2007).
    """
    tau_squared = np.zeros(len(targets))
    for _ in range(_MAX_STEPS):
        weights = _weights(effects, tau_squared)
        terms = _terms(effects, weights, members)
        excess = np.maximum(0.0, terms.sum(axis=1) - targets)
        step = excess / np.maximum((weights * terms).sum(axis=1), np.finfo(float).tiny)
        tau_squared = tau_squared + step
        if (step <= _TOLERANCE * (tau_squared + effects.variances.min())).all():
            break
    return tau_squared


def _find_extreme(effects: Effects) -> int:
    """Return the index of the largest standardised residual."""
    pooled = _pool(effects)
    spreads = np.sqrt(effects.variances + pooled.tau_squared)
    return int(np.argmax(np.abs(effects.estimates - pooled.mean) / spreads))


def _outlier_p_value(effects: Effects, index: int) -> float:
    """Two-sided p value of a node's distance from the pooled effect of all others.

    The degrees of freedom are Satterthwaite's, and at most those of the others.
    """
    others = _pool(effects.without(index))
    noise, rest = effects.variances[index], others.tau_squared + others.standard_error**2
    least = noise**2 / effects.freedoms[index] + rest**2 / (effects.count - 2)
    freedom = min(effects.count - 2, (noise + rest) ** 2 / least) if least else effects.count - 2
    distance = abs(effects.estimates[index] - others.mean) / math.sqrt(noise + rest)
    return 2 * float(t_cdf(freedom, -distance))


def _mixture_quantile(means: Array, spreads: Array, area: float) -> float:
    """Return the quantile of a mixture of normal distributions with equal shares."""

    def excess(x: float) -> float:
        return float(np.mean([normal_cdf(z) for z in (x - means) / spreads])) - area

    ends = [means + sign * _MOST_DEVIATIONS * spreads for sign in (-1, 1)]
    low, high = float(ends[0].min()), float(ends[1].max())
    return find_root(excess, low, high, tolerance=1e-6 * float(np.median(spreads)))
