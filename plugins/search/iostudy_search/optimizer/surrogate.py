"""Additive Gaussian process of performance over parameters, with posterior draws.

The estimates y of the candidates are modelled as values of

    f = constant + sum over parameters f_j(x_j) + interaction(x),    y = f + error

with the covariance of errors of `estimates`, and a Gaussian process for each term (Rasmussen &
Williams 2006). The kernel of f_j has mean zero over the parameter's domain (Durrande, Ginsbourger,
Roustant & Carraro 2013). f_j is then the main effect of a functional analysis of variance, and 0
where the parameter is inactive. The interaction has the sum of all products of two of these kernels
(Duvenaud, Nickisch & Rasmussen 2011). A range's kernel is the mean of two squared exponentials with
length scales of a quarter and the whole of its scale: smooth curves with few optima, without steps.
Different names are uncorrelated.

The standard deviation s of each term is unknown. Its logarithm has a normal prior around that of
the spread of y, wide enough for a factor of twenty in both directions. Posterior draws of all s
come from elliptical slice sampling (Murray, Adams & MacKay 2010), each with one draw of all terms
(Matheron's rule; Wilson et al. 2020). The uncertainty of s therefore widens the intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from iostudy_search.optimizer.space import Choices, Domain, Parameter, Point, Range

Array = NDArray[np.float64]

LENGTHS = (0.25, 1.0)
"""Length scales of a range's kernel, as shares of its scale."""

PRIOR_SPREAD = 1.5
"""Of log s: e^(2 * 1.5) is twenty."""

CONSTANT_PRIOR_SCALE = 10.0
"""The standard deviation of the constant's prior, in units of the spread of y."""

MIN_SCALE = 1e-6
"""The spread for equal estimates, below any measurable difference."""

DRAWS, BURN_IN, THINNING = 400, 150, 3


@dataclass(frozen=True)
class ModelTerm:
    """One term of the model: its kernel over an evaluation grid, followed by the candidates.

    ``grid_size`` is the number of grid points.
    """

    kernel: Array
    grid_size: int

    @property
    def candidate_kernel(self) -> Array:
        """The kernel among candidates."""
        return self.kernel[self.grid_size :, self.grid_size :]


@dataclass(frozen=True)
class PosteriorDraws:
    """Posterior draws: the constant, and every term on its grid (draws x points)."""

    constant: Array
    parts: tuple[Array, ...]


def main_effect_term(
    parameter: Parameter, values: Sequence[str], points: Sequence[Point]
) -> ModelTerm:
    """Return the term of one parameter on the grid ``values``, which represents its domain."""
    held = [point.get(parameter.name) for point in points]
    return ModelTerm(_centred(parameter.domain, values, [*values, *held]), len(values))


def interaction_term(
    parameters: Sequence[tuple[Parameter, Sequence[str]]],
    over: Sequence[Point],
    points: Sequence[Point],
) -> ModelTerm:
    """Return the interaction term on the grid ``over``."""
    everywhere = [*over, *points]
    kernels = [
        _centred(parameter.domain, values, [point.get(parameter.name) for point in everywhere])
        for parameter, values in parameters
    ]
    products = [first * second for first, second in combinations(kernels, 2)]
    return ModelTerm(np.sum(products, axis=0) / len(products), len(over))


def draw_posterior(
    parts: Sequence[ModelTerm], y: Array, covariance: Array, seed: int
) -> PosteriorDraws:
    """Draw from the posterior of the constant and of all terms, given estimates with errors."""
    rng = np.random.default_rng(seed)
    model = _Model(tuple(parts), y, covariance)
    drawn = []
    log_s = np.zeros(len(parts))
    likelihood = model.log_likelihood(log_s)
    for step in range(BURN_IN + DRAWS * THINNING):
        log_s, likelihood = _slice_step(model.log_likelihood, log_s, likelihood, rng)
        if step >= BURN_IN and (step - BURN_IN) % THINNING == 0:
            drawn.append(model.draw(log_s, rng))
    constants, parts_drawn = zip(*drawn, strict=True)
    return PosteriorDraws(np.array(constants), tuple(map(np.array, zip(*parts_drawn, strict=True))))


@dataclass(frozen=True)
class _Model:
    """``y`` are the estimates of the candidates, with this covariance of their errors.

    ``log_s`` is relative to the median of its prior everywhere.
    """

    parts: tuple[ModelTerm, ...]
    y: Array
    covariance: Array

    @cached_property
    def scale(self) -> float:
        """The spread of the estimates, by which all priors are set."""
        return float(self.y.std()) or MIN_SCALE

    @cached_property
    def roots(self) -> tuple[Array, ...]:
        """Square roots of the terms' kernels and of the covariance of errors."""
        return (*(_root(part.kernel) for part in self.parts), _root(self.covariance))

    @cached_property
    def candidate_kernels(self) -> Array:
        """Those of all terms: a row of all elements for each term."""
        return np.array([part.candidate_kernel.ravel() for part in self.parts])

    @cached_property
    def fixed_covariance(self) -> Array:
        """The part of y's covariance that no strength changes."""
        constant = (CONSTANT_PRIOR_SCALE * self.scale) ** 2
        # Estimates without any noise would leave nothing to invert.
        return self.covariance + constant + (1e-4 * self.scale) ** 2 * np.eye(len(self.y))

    @cached_property
    def residual(self) -> Array:
        """Of y from its mean, which stands in for that of the constant's prior."""
        return np.asarray(self.y - self.y.mean())

    def strengths(self, log_s: Array) -> Array:
        """The standard deviation of each part."""
        return np.asarray(self.scale * np.exp(log_s))

    def solve(self, log_s: Array, residual: Array) -> tuple[Array, float]:
        """Return the inverse covariance of y times a residual, and the log-determinant."""
        from scipy.linalg import lapack  # an optional dependency, and slow to load

        squares = self.strengths(log_s) ** 2
        fixed = self.fixed_covariance
        total = fixed + (squares @ self.candidate_kernels).reshape(fixed.shape)
        # What scipy.linalg checks takes three times as long as the matrices of a search.
        factor, weights, failed = lapack.dposv(total, residual, lower=True)
        if failed:
            raise np.linalg.LinAlgError("the covariance is not positive definite")
        return np.asarray(weights), float(2 * np.log(np.diag(factor)).sum())

    def log_likelihood(self, log_s: Array) -> float:
        """Of y, up to a constant."""
        weights, determinant = self.solve(log_s, self.residual)
        return -0.5 * (float(self.residual @ weights) + determinant)

    def draw(self, log_s: Array, rng: np.random.Generator) -> tuple[float, list[Array]]:
        """Draw constant and terms: a prior draw with Matheron's update."""
        strengths, vague = self.strengths(log_s), CONSTANT_PRIOR_SCALE * self.scale
        *prior, error = (root @ rng.standard_normal(len(root)) for root in self.roots)
        prior = [s * draw for s, draw in zip(strengths, prior, strict=True)]
        constant = self.y.mean() + vague * rng.standard_normal()
        simulated = constant + error
        for draw, part in zip(prior, self.parts, strict=True):
            simulated = simulated + draw[part.grid_size :]
        weights, _ = self.solve(log_s, self.y - simulated)
        return float(constant + vague**2 * weights.sum()), [
            draw[: part.grid_size]
            + s**2 * part.kernel[: part.grid_size, part.grid_size :] @ weights
            for draw, part, s in zip(prior, self.parts, strengths, strict=True)
        ]


def _slice_step(
    log_likelihood: Callable[[Array], float],
    log_s: Array,
    likelihood: float,
    rng: np.random.Generator,
) -> tuple[Array, float]:
    """One step of elliptical slice sampling under the prior N(0, PRIOR_SPREAD^2), and its value."""
    other = PRIOR_SPREAD * rng.standard_normal(len(log_s))
    height = likelihood + np.log(rng.random())
    angle = rng.uniform(0, 2 * np.pi)
    low, high = angle - 2 * np.pi, angle
    while True:
        proposed = log_s * np.cos(angle) + other * np.sin(angle)
        if (value := log_likelihood(proposed)) > height:
            return np.asarray(proposed), value
        low, high = (angle, high) if angle < 0 else (low, angle)
        angle = rng.uniform(low, high)


def _centred(domain: Domain, values: Sequence[str], held: Sequence[str | None]) -> Array:
    """The kernel among ``held``, with no mean and on average a variance of 1 over ``values``.

    0 with what does not have the parameter.
    """
    there = np.array([value is not None for value in held])
    places = np.array([domain.share(value) if value is not None else 0.0 for value in held])
    over = np.array([domain.share(value) for value in values])
    kernels = []
    for similar in _similarities(domain):
        mean, row_means = similar(places, over).mean(axis=1), similar(over, over).mean(axis=1)
        left = similar(places, places) - np.outer(mean, mean) / row_means.mean()
        kernels.append(left / (1 - (row_means**2).mean() / row_means.mean()))
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
