"""A model of how performance depends on the parameters, for what it says and for how sure it is.

The estimates y of the candidates are taken as values of

    f = constant + sum over parameters f_j(x_j) + interaction(x),    y = f + error

with the errors' covariance that `estimates` gives, and a Gaussian process for each part (Rasmussen
& Williams 2006). Every f_j has a kernel with its mean over the parameter's domain taken out
(Durrande, Ginsbourger, Roustant & Carraro 2013), so that f_j is the main effect of its parameter as
a functional analysis of variance has it, 0 on average; where a parameter is not there, its effect
is 0. The interaction has the sum of all products of two of these kernels (Duvenaud, Nickisch &
Rasmussen 2011). A range's kernel is the mean of two squared exponentials that are a quarter and the
whole of its scale long: smooth curves with an optimum or a few, and no steps. Names are the same or
have nothing in common.

How strong each part is (its standard deviation s) is not known. The logarithm of s has a normal
prior around that of the spread of y, so wide that s may be twenty times larger or smaller. Draws
from the posterior of all s come from elliptical slice sampling (Murray, Adams & MacKay 2010), and
with each of them one draw of all parts (Matheron's rule; Wilson et al. 2020). What is not known
about s thus widens the intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import assert_never

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from iostudy.analysis.search.space import Choices, Domain, Parameter, Point, Range

Array = NDArray[np.float64]

LENGTHS = (0.25, 1.0)
"""Length scales of a range's kernel, as shares of its scale."""

PRIOR_SPREAD = 1.5
"""Of log s: e^(2 * 1.5) is twenty."""

VAGUE = 10.0
"""How much wider than the spread of y the constant's prior is."""

NO_SPREAD = 1e-6
"""What stands for the spread of estimates that are all the same: less than anybody measures."""

DRAWS, BURN_IN, THINNING = 400, 150, 3


@dataclass(frozen=True)
class Part:
    """One part of the model: its kernel over where it is told, followed by the candidates.

    ``told`` is the number of the former.
    """

    kernel: Array
    told: int

    @property
    def of_candidates(self) -> Array:
        """The kernel among candidates."""
        return self.kernel[self.told :, self.told :]


@dataclass(frozen=True)
class Drawn:
    """Draws from the posterior: the constant, and every part where it is told (draws x places)."""

    constant: Array
    parts: tuple[Array, ...]


def main_effect(parameter: Parameter, values: Sequence[str], points: Sequence[Point]) -> Part:
    """The part of one parameter, told at ``values``, which stand for its domain."""
    held = [point.get(parameter.name) for point in points]
    return Part(_centred(parameter.domain, values, [*values, *held]), len(values))


def interaction(
    parameters: Sequence[tuple[Parameter, Sequence[str]]],
    over: Sequence[Point],
    points: Sequence[Point],
) -> Part:
    """What no parameter does by itself, told at the points ``over``."""
    everywhere = [*over, *points]
    kernels = [
        _centred(parameter.domain, values, [point.get(parameter.name) for point in everywhere])
        for parameter, values in parameters
    ]
    products = [first * second for first, second in combinations(kernels, 2)]
    return Part(np.sum(products, axis=0) / len(products), len(over))


def draw(parts: Sequence[Part], y: Array, covariance: Array, seed: int) -> Drawn:
    """Draws from the posterior of the constant and of all parts, given estimates with errors."""
    rng = np.random.default_rng(seed)
    model = _Model(tuple(parts), y, covariance)
    drawn = []
    log_s = np.zeros(len(parts))
    for step in range(BURN_IN + DRAWS * THINNING):
        log_s = _slice_step(model.log_likelihood, log_s, rng)
        if step >= BURN_IN and (step - BURN_IN) % THINNING == 0:
            drawn.append(model.drawn(log_s, rng))
    constants, parts_drawn = zip(*drawn, strict=True)
    return Drawn(np.array(constants), tuple(map(np.array, zip(*parts_drawn, strict=True))))


@dataclass(frozen=True)
class _Model:
    """``y`` are the estimates of the candidates, with this covariance of their errors.

    ``log_s`` is relative to the median of its prior everywhere.
    """

    parts: tuple[Part, ...]
    y: Array
    covariance: Array

    @cached_property
    def scale(self) -> float:
        """The spread of the estimates, by which all priors are set."""
        return float(self.y.std()) or NO_SPREAD

    @cached_property
    def roots(self) -> tuple[Array, ...]:
        """Of the kernels of all parts, and of the errors' covariance."""
        return (*(_root(part.kernel) for part in self.parts), _root(self.covariance))

    def strengths(self, log_s: Array) -> Array:
        """The standard deviation of each part."""
        return np.asarray(self.scale * np.exp(log_s))

    def solved(self, log_s: Array, residual: Array) -> tuple[Array, float]:
        """The inverse of the covariance of y times a residual, and its log-determinant."""
        squares = self.strengths(log_s) ** 2
        total = self.covariance + (VAGUE * self.scale) ** 2
        for square, part in zip(squares, self.parts, strict=True):
            total = total + square * part.of_candidates
        # Estimates without any noise would leave nothing to invert.
        total = total + (1e-4 * self.scale) ** 2 * np.eye(len(self.y))
        factor = linalg.cho_factor(total, lower=True, check_finite=False)
        weights = linalg.cho_solve(factor, residual, check_finite=False)
        return np.asarray(weights), float(2 * np.log(np.diag(factor[0])).sum())

    def log_likelihood(self, log_s: Array) -> float:
        """Of y, up to a constant. The mean of y stands in for that of the constant's prior."""
        residual = self.y - self.y.mean()
        weights, determinant = self.solved(log_s, residual)
        return -0.5 * (float(residual @ weights) + determinant)

    def drawn(self, log_s: Array, rng: np.random.Generator) -> tuple[float, list[Array]]:
        """The constant and each part: one draw from the prior, moved by what y says of it."""
        strengths, vague = self.strengths(log_s), VAGUE * self.scale
        *prior, error = (root @ rng.standard_normal(len(root)) for root in self.roots)
        prior = [s * own for s, own in zip(strengths, prior, strict=True)]
        constant = self.y.mean() + vague * rng.standard_normal()
        simulated = constant + error
        for own, part in zip(prior, self.parts, strict=True):
            simulated = simulated + own[part.told :]
        weights, _ = self.solved(log_s, self.y - simulated)
        return float(constant + vague**2 * weights.sum()), [
            own[: part.told] + s**2 * part.kernel[: part.told, part.told :] @ weights
            for own, part, s in zip(prior, self.parts, strengths, strict=True)
        ]


def _slice_step(
    log_likelihood: Callable[[Array], float], log_s: Array, rng: np.random.Generator
) -> Array:
    """One step of elliptical slice sampling under the prior N(0, PRIOR_SPREAD^2)."""
    other = PRIOR_SPREAD * rng.standard_normal(len(log_s))
    height = log_likelihood(log_s) + np.log(rng.random())
    angle = rng.uniform(0, 2 * np.pi)
    low, high = angle - 2 * np.pi, angle
    while True:
        proposed = log_s * np.cos(angle) + other * np.sin(angle)
        if log_likelihood(proposed) > height:
            return np.asarray(proposed)
        low, high = (angle, high) if angle < 0 else (low, angle)
        angle = rng.uniform(low, high)


def _centred(domain: Domain, values: Sequence[str], held: Sequence[str | None]) -> Array:
    """The kernel among ``held``, with no mean and on average a variance of 1 over ``values``.

    0 with what does not have the parameter.
    """
    there = np.array([own is not None for own in held])
    places = np.array([domain.share(own) if own is not None else 0.0 for own in held])
    over = np.array([domain.share(own) for own in values])
    kernels = []
    for similar in _similarities(domain):
        mean, own = similar(places, over).mean(axis=1), similar(over, over).mean(axis=1)
        left = similar(places, places) - np.outer(mean, mean) / own.mean()
        kernels.append(left / (1 - (own**2).mean() / own.mean()))
    return np.asarray(np.mean(kernels, axis=0) * np.outer(there, there))


def _similarities(domain: Domain) -> list[Callable[[Array, Array], Array]]:
    """Kernels of two rows of places, 1 where they are the same."""
    match domain:
        case Range():
            return [partial(_squared_exponential, length=length) for length in LENGTHS]
        case Choices():
            return [_same]
    assert_never(domain)


def _squared_exponential(first: Array, second: Array, *, length: float) -> Array:
    return np.asarray(np.exp(-0.5 * ((first[:, None] - second) / length) ** 2))


def _same(first: Array, second: Array) -> Array:
    return np.asarray(first[:, None] == second, dtype=np.float64)


def _root(covariance: Array) -> Array:
    """A matrix R with R R' = covariance, which may have no inverse."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))
