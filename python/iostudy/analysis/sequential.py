"""Paired sequential t-test with exact Pocock boundaries.

An ordinary 95 % interval after every block from ``min_blocks`` to ``max_blocks`` excludes zero in
far more than 5 % of studies of equal configurations. A smaller level a*, equal at every interim
analysis (Pocock 1977), bounds the probability that *any* interval misses by the requested risk.
These are repeated confidence intervals (Jennison & Turnbull 1989).

a* is computed, not simulated. Let x_1, x_2, ... be independent N(0, sigma^2) and
r_n = sum(x_i) / sqrt(n * sum(x_i^2)); the t statistic is T_n = sqrt(n-1) r_n / sqrt(1 - r_n^2).
Their distribution does not depend on sigma, so they are independent of the sufficient statistic
sum(x_i^2) (Basu), and so of the angle phi = atan(x_{n+1} / sqrt(sum(x_i^2))). That makes r_n a
Markov chain,

    r_{n+1} = (sqrt(n) r_n cos(phi) + sin(phi)) / sqrt(n+1),   density of phi ~ cos(phi)^(n-1),

and the probability of staying within all boundaries is a one-dimensional backward recursion, as in
Jennison & Turnbull (1991) for sequential t tests. Functions of r_n are tabulated on an even grid of
atanh(r_n) = asinh(T_n / sqrt(n-1)): fine where T_n is small, and wide enough for the large
boundaries of the first analyses.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

# Doubling either changes the risk by less than 0.5 % of itself.
GRID_POINTS = 129
QUADRATURE_POINTS = 32

# Less than 1e-15 of the distribution of phi lies beyond this many standard deviations.
_REACH = 8.0

_TOLERANCE = 1e-4
"""Largest last step in the logarithm of the level; the remaining error is far smaller."""


@functools.cache
def repeated_alpha(min_blocks: int, max_blocks: int, risk: float) -> float:
    """Return the level a* of every interim analysis.

    Under the null, P(|T_n| > t(1 - a*/2, n-1) for any n from ``min_blocks`` to ``max_blocks``) is
    ``risk``, a fraction. A single analysis (``min_blocks == max_blocks``) takes the whole risk.
    Raises ValueError for an invalid range of blocks or risk.
    """
    if not 2 <= min_blocks <= max_blocks:
        raise ValueError(f"blocks must satisfy 2 <= {min_blocks} <= {max_blocks}")
    if not 0 < risk < 1:
        raise ValueError(f"risk must lie between 0 and 1, not at {risk}")
    looks = max_blocks - min_blocks + 1
    if looks == 1:
        return risk

    def excess(log_alpha: float) -> float:
        return math.log(crossing_probability(min_blocks, max_blocks, math.exp(log_alpha)) / risk)

    # The risk lies between that of one analysis and, by Bonferroni, the sum over all of them.
    return math.exp(_solve_by_secant(excess, math.log(risk / looks), math.log(risk)))


def _solve_by_secant(excess: Callable[[float], float], low: float, high: float) -> float:
    """Solve ``excess(x) = 0`` between ``low`` and ``high``, for a slope of nearly 1.

    The secant method, started in the middle. It takes three or four evaluations of a slow function,
    where Brent's method takes six.
    """
    previous = (low + high) / 2
    previous_value = excess(previous)
    current = min(high, max(low, previous - previous_value))
    while abs(current - previous) > _TOLERANCE:
        value = excess(current)
        step = value * (current - previous) / (value - previous_value)
        previous, previous_value = current, value
        current = min(high, max(low, current - step))
    return current


def crossing_probability(
    min_blocks: int,
    max_blocks: int,
    alpha: float,
    *,
    grid_points: int = GRID_POINTS,
    quadrature_points: int = QUADRATURE_POINTS,
) -> float:
    """Return the probability, under the null, that any interval at level ``alpha`` excludes 0."""
    nodes, weights = np.polynomial.legendre.leggauss(quadrature_points)
    unit = (nodes + 1) / 2, weights / 2
    inside = np.linspace(0.0, _limit(max_blocks, alpha), grid_points)
    staying = np.ones(grid_points)
    for n in range(max_blocks - 1, min_blocks - 1, -1):
        later = _even_spline(inside[-1], staying)
        inside = np.linspace(0.0, _limit(n, alpha), grid_points)
        staying = _continuation_probability(n, np.tanh(inside), later, unit)
    return 1.0 - _mean_at_first_analysis(min_blocks, _even_spline(inside[-1], staying), unit)


def _limit(n: int, alpha: float) -> float:
    """The boundary of atanh(r_n) that corresponds to |T_n| = t(1 - alpha/2, n-1)."""
    return math.asinh(-float(special.stdtrit(n - 1, alpha / 2)) / math.sqrt(n - 1))


@dataclass(frozen=True)
class _Spline:
    """A cubic spline through values on an even grid from 0 to ``end``, extrapolated beyond it.

    ``pieces`` are polynomials in the fraction of each step, four coefficients from the constant up.
    """

    end: float
    pieces: Array

    def __call__(self, x: Array) -> Array:
        """Evaluate the spline at points >= 0."""
        steps = self.pieces.shape[1]
        fraction = x * (steps / self.end)
        step = np.minimum(fraction.astype(np.intp), steps - 1)
        fraction -= step
        value, slope, square, cube = self.pieces.take(step, axis=1)
        return np.asarray(value + fraction * (slope + fraction * (square + fraction * cube)))


def _even_spline(end: float, y: Array) -> _Spline:
    """Interpolate a function that is symmetric about zero from its half x >= 0."""
    slopes = _slopes(len(y)) @ y
    rise, before, after = np.diff(y), slopes[:-1], slopes[1:]
    return _Spline(
        end, np.stack((y[:-1], before, 3 * rise - 2 * before - after, before + after - 2 * rise))
    )


@functools.cache
def _slopes(points: int) -> Array:
    """The matrix that maps values of a cubic spline to slopes, in units of a grid step.

    The second derivative is continuous, the slope is 0 at the start, and the last two pieces are
    one polynomial ("not a knot"): de Boor, A Practical Guide to Splines (2001), chapter IV. On an
    even grid one matrix serves all splines; scipy would solve the equations for each, which took
    half of the total time.
    """
    left, right = 4 * np.eye(points), np.zeros((points, points))
    inner = np.arange(1, points - 1)
    left[inner, inner - 1] = left[inner, inner + 1] = 1
    right[inner, inner - 1], right[inner, inner + 1] = -3, 3
    left[0, 0] = 1
    left[-1, -2:] = 2, 1
    right[-1, -3:] = -0.5, -2, 2.5
    return np.asarray(np.linalg.solve(left, right))


def _continuation_probability(n: int, r: Array, later: _Spline, unit: tuple[Array, Array]) -> Array:
    """P(all analyses after the n-th stay within their boundaries | r_n = r), for every r >= 0.

    ``later`` is the same function for n + 1, of atanh(r_{n+1}) up to its boundary. With
    a = sqrt(n) r, r_{n+1} has its maximum at phi = ``peak`` and exceeds the boundary within
    ``half`` of it (and of its mirror image, peak - pi). Only the two ranges between are
    integrated.
    """
    limit = math.tanh(later.end)
    a = math.sqrt(n) * r
    peak = np.arctan2(1.0, a)
    half = np.arccos(np.minimum(1.0, limit * math.sqrt(n + 1) / np.hypot(1.0, a)))
    reach = min(math.pi / 2, _REACH / math.sqrt(n))
    staying = np.zeros_like(r)
    ranges = ((peak + half - math.pi, peak - half), (peak + half, np.full_like(r, reach)))
    for start, end in np.clip(ranges, -reach, reach):
        # With many analyses one of the two ranges is empty for nearly every r.
        some = np.flatnonzero(end > start)
        width = (end - start)[some]
        phi = start[some, None] + width[:, None] * unit[0]
        cosine = np.cos(phi)
        following = np.abs(a[some, None] * cosine + np.sin(phi)) / math.sqrt(n + 1)
        following = np.arctanh(np.minimum(following, limit))
        density = cosine ** (n - 1) / special.beta(0.5, n / 2)
        staying[some] += width * ((later(following) * density) @ unit[1])
    return staying


def _mean_at_first_analysis(n: int, staying: _Spline, unit: tuple[Array, Array]) -> float:
    """The mean of ``staying`` over r_n = sin(theta), with the density ~ cos(theta)^(n-2)."""
    end = math.asin(math.tanh(staying.end))
    theta = end * unit[0]
    density = 2 * np.cos(theta) ** (n - 2) / special.beta(0.5, (n - 1) / 2)
    return end * float((staying(np.arctanh(np.sin(theta))) * density) @ unit[1])
