"""The level at which an interval may be looked at after every block, and stopped on.

Looking after every block from ``min_blocks`` to ``max_blocks`` with an ordinary 95 % interval finds
a difference that is not there far more often than in 5 % of studies. A smaller level a* for every
single look, the same for all of them (Pocock 1977), makes the risk of *ever* being wrong what was
asked for: repeated confidence intervals (Jennison & Turnbull 1989).

a* is computed, not simulated. Let x_1, x_2, ... be independent N(0, sigma^2) and
r_n = sum(x_i) / sqrt(n * sum(x_i^2)); the t statistic is T_n = sqrt(n-1) r_n / sqrt(1 - r_n^2).
Their distribution does not depend on sigma, so they are independent of the sufficient statistic
sum(x_i^2) (Basu), and so of the angle phi = atan(x_{n+1} / sqrt(sum(x_i^2))). That makes r_n a
Markov chain,

    r_{n+1} = (sqrt(n) r_n cos(phi) + sin(phi)) / sqrt(n+1),   density of phi ~ cos(phi)^(n-1),

and the probability of staying within all limits a one-dimensional backward recursion, as Jennison &
Turnbull (1991) do it for sequential t tests. Functions of r_n are kept on an even grid of
atanh(r_n) = asinh(T_n / sqrt(n-1)): fine where T_n is small, and wide enough for the large limits
of the first looks.
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

# Twice as many of either change the risk by less than 1 part in 200 of itself.
GRID_POINTS = 129
QUADRATURE_POINTS = 32

# Beyond this many standard deviations of phi lies less than 1e-15 of its distribution.
_REACH = 8.0

_CLOSE = 1e-4
"""The last step to the logarithm of the level; what is then left of the way is far less."""


@functools.cache
def repeated_alpha(min_blocks: int, max_blocks: int, risk: float) -> float:
    """The level a* of every single look.

    Under the null, P(|T_n| > t(1 - a*/2, n-1) for any n from ``min_blocks`` to ``max_blocks``) is
    ``risk``, a fraction. One look alone (``min_blocks == max_blocks``) takes the whole risk.
    Raises ValueError for values that make no sequence of looks.
    """
    if not 2 <= min_blocks <= max_blocks:
        raise ValueError(f"blocks must satisfy 2 <= {min_blocks} <= {max_blocks}")
    if not 0 < risk < 1:
        raise ValueError(f"risk must lie between 0 and 1, not at {risk}")
    looks = max_blocks - min_blocks + 1
    if looks == 1:
        return risk

    def excess(log_alpha: float) -> float:
        return math.log(ever_outside(min_blocks, max_blocks, math.exp(log_alpha)) / risk)

    # The risk lies between that of one look and, by Bonferroni, the sum over all looks.
    return math.exp(_secant(excess, math.log(risk / looks), math.log(risk)))


def _secant(excess: Callable[[float], float], low: float, high: float) -> float:
    """Where ``excess``, a function of nearly constant slope 1, is 0 between ``low`` and ``high``.

    The secant method, from the middle on. It takes three or four values of a function that takes
    long, where Brent's method takes six.
    """
    before = (low + high) / 2
    there = excess(before)
    place = min(high, max(low, before - there))
    while abs(place - before) > _CLOSE:
        here = excess(place)
        following = place - here * (place - before) / (here - there)
        before, there, place = place, here, min(high, max(low, following))
    return place


def ever_outside(
    min_blocks: int,
    max_blocks: int,
    alpha: float,
    *,
    grid_points: int = GRID_POINTS,
    quadrature_points: int = QUADRATURE_POINTS,
) -> float:
    """The probability, under the null, that any look at level ``alpha`` excludes zero."""
    nodes, weights = np.polynomial.legendre.leggauss(quadrature_points)
    unit = (nodes + 1) / 2, weights / 2
    inside = np.linspace(0.0, _limit(max_blocks, alpha), grid_points)
    staying = np.ones(grid_points)
    for n in range(max_blocks - 1, min_blocks - 1, -1):
        later = _even_spline(inside[-1], staying)
        inside = np.linspace(0.0, _limit(n, alpha), grid_points)
        staying = _staying_one_look_more(n, np.tanh(inside), later, unit)
    return 1.0 - _mean_at_first_look(min_blocks, _even_spline(inside[-1], staying), unit)


def _limit(n: int, alpha: float) -> float:
    """The limit of atanh(r_n) that belongs to |T_n| = t(1 - alpha/2, n-1)."""
    return math.asinh(-float(special.stdtrit(n - 1, alpha / 2)) / math.sqrt(n - 1))


@dataclass(frozen=True)
class _Spline:
    """A cubic spline through values on an even grid from 0 to ``end``; beyond, its last piece.

    ``pieces`` are polynomials of the way through each step, four coefficients from the constant up.
    """

    end: float
    pieces: Array

    def __call__(self, x: Array) -> Array:
        """Its values at points >= 0."""
        steps = self.pieces.shape[1]
        way = x * (steps / self.end)
        step = np.minimum(way.astype(np.intp), steps - 1)
        way -= step
        value, slope, square, cube = self.pieces.take(step, axis=1)
        return np.asarray(value + way * (slope + way * (square + way * cube)))


def _even_spline(end: float, y: Array) -> _Spline:
    """An interpolation of a function that is symmetric about zero, from its half x >= 0."""
    slopes = _slopes(len(y)) @ y
    rise, before, after = np.diff(y), slopes[:-1], slopes[1:]
    return _Spline(
        end, np.stack((y[:-1], before, 3 * rise - 2 * before - after, before + after - 2 * rise))
    )


@functools.cache
def _slopes(points: int) -> Array:
    """The matrix that makes slopes (a step of the grid as unit) of the values of a cubic spline.

    Its second derivative is continuous, its slope 0 at the start, and its last two pieces are one
    polynomial ("not a knot"): de Boor, A Practical Guide to Splines (2001), chapter IV. The grid
    being even, one matrix serves all; scipy solves the equations anew for each, which took half of
    all the time.
    """
    left, right = 4 * np.eye(points), np.zeros((points, points))
    inner = np.arange(1, points - 1)
    left[inner, inner - 1] = left[inner, inner + 1] = 1
    right[inner, inner - 1], right[inner, inner + 1] = -3, 3
    left[0, 0] = 1
    left[-1, -2:] = 2, 1
    right[-1, -3:] = -0.5, -2, 2.5
    return np.asarray(np.linalg.solve(left, right))


def _staying_one_look_more(n: int, r: Array, later: _Spline, unit: tuple[Array, Array]) -> Array:
    """P(all looks after the n-th stay within their limits | r_n = r), for every r >= 0.

    ``later`` is the same for the looks after the next, by atanh(r_{n+1}) up to its limit.
    With a = sqrt(n) r, r_{n+1} is greatest at phi = ``peak``, and beyond the limit within ``half``
    of it (and of its mirror image, peak - pi). Only the two stretches between are integrated.
    """
    limit = math.tanh(later.end)
    a = math.sqrt(n) * r
    peak = np.arctan2(1.0, a)
    half = np.arccos(np.minimum(1.0, limit * math.sqrt(n + 1) / np.hypot(1.0, a)))
    reach = min(math.pi / 2, _REACH / math.sqrt(n))
    staying = np.zeros_like(r)
    stretches = ((peak + half - math.pi, peak - half), (peak + half, np.full_like(r, reach)))
    for start, end in np.clip(stretches, -reach, reach):
        # Of many looks one of the two stretches is empty for nearly every r.
        some = np.flatnonzero(end > start)
        width = (end - start)[some]
        phi = start[some, None] + width[:, None] * unit[0]
        cosine = np.cos(phi)
        following = np.abs(a[some, None] * cosine + np.sin(phi)) / math.sqrt(n + 1)
        following = np.arctanh(np.minimum(following, limit))
        density = cosine ** (n - 1) / special.beta(0.5, n / 2)
        staying[some] += width * ((later(following) * density) @ unit[1])
    return staying


def _mean_at_first_look(n: int, staying: _Spline, unit: tuple[Array, Array]) -> float:
    """The mean of ``staying`` over r_n = sin(theta), theta with density ~ cos(theta)^(n-2)."""
    end = math.asin(math.tanh(staying.end))
    theta = end * unit[0]
    density = 2 * np.cos(theta) ** (n - 2) / special.beta(0.5, (n - 1) / 2)
    return end * float((staying(np.arctanh(np.sin(theta))) * density) @ unit[1])
