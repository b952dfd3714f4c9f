"""Functions of Student's t, F, chi-squared, beta and normal distributions.

The Rust core computes them with the library statrs. Tests compare them with scipy, which is not
needed to run a study. Arguments outside the domain give NaN.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iostudy import _native

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

beta_cdf = _native.beta_cdf
chi_squared_quantile = _native.chi_squared_quantile
f_tail = _native.f_tail


normal_quantile = NormalDist().inv_cdf
"""The z with P(Z <= z) = area, which must lie between 0 and 1."""


def t_cdf(freedom: ArrayLike, t: ArrayLike) -> Array:
    """P(T <= t), elementwise."""
    return _elementwise(_native.t_cdf, freedom, t)


def t_quantile(freedom: ArrayLike, area: ArrayLike) -> Array:
    """Return the t with P(T <= t) = area, elementwise."""
    return _elementwise(_native.t_quantile, freedom, area)


def normal_cdf(z: float) -> float:
    """P(Z <= z) of the standard normal distribution."""
    return math.erfc(-z / math.sqrt(2)) / 2


def beta_function(a: float, b: float) -> float:
    """Return Euler's beta function."""
    return math.exp(math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))


@functools.cache
def beta_quadrature(a: float, b: float, points: int) -> tuple[Array, Array]:
    """Return points and weights of the Gauss quadrature for the distribution Beta(a, b).

    From the eigenvalues of the Jacobi matrix (Golub & Welsch 1969).
    """
    alpha, beta = b - 1, a - 1  # of the Jacobi polynomials on (-1, 1)
    k = np.arange(1.0, points)
    total = 2 * k + alpha + beta
    diagonal = np.empty(points)
    diagonal[0] = (beta - alpha) / (alpha + beta + 2)
    diagonal[1:] = (beta**2 - alpha**2) / (total * (total + 2))
    squares = 4 * k * (k + alpha) * (k + beta) * (k + alpha + beta)
    # The general term is 0 / 0 for k = 1 with alpha + beta = -1.
    squares[1:] /= (total**2 * (total + 1) * (total - 1))[1:]
    squares[:1] = 4 * (1 + alpha) * (1 + beta) / ((alpha + beta + 2) ** 2 * (alpha + beta + 3))
    side = np.sqrt(squares)
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(side, 1) + np.diag(side, -1))
    return (nodes + 1) / 2, vectors[0] ** 2


def _elementwise(
    function: Callable[[Array, Array], bytes], first: ArrayLike, second: ArrayLike
) -> Array:
    a, b = (np.asarray(value, dtype=np.float64) for value in (first, second))
    if a.shape != b.shape:  # sums take a fifth of the time of np.broadcast_arrays
        a, b = a + np.zeros_like(b), b + np.zeros_like(a)
    return np.frombuffer(function(a.ravel(), b.ravel())).reshape(a.shape)
