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

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special
from scipy.interpolate import CubicSpline

Array = NDArray[np.float64]

# Twice as many of either change the risk by less than 1 part in 200 of itself.
GRID_POINTS = 129
QUADRATURE_POINTS = 32

# Beyond this many standard deviations of phi lies less than 1e-15 of its distribution.
_REACH = 8.0


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
    return math.exp(optimize.brentq(excess, math.log(risk / looks), math.log(risk), xtol=1e-4))


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
        later = _even_spline(inside, staying)
        inside = np.linspace(0.0, _limit(n, alpha), grid_points)
        staying = _staying_one_look_more(n, np.tanh(inside), later, unit)
    return 1.0 - _mean_at_first_look(min_blocks, _even_spline(inside, staying), unit)


def _limit(n: int, alpha: float) -> float:
    """The limit of atanh(r_n) that belongs to |T_n| = t(1 - alpha/2, n-1)."""
    return math.asinh(-float(special.stdtrit(n - 1, alpha / 2)) / math.sqrt(n - 1))


def _even_spline(x: Array, y: Array) -> CubicSpline[np.float64]:
    """An interpolation of a function that is symmetric about zero, from its half x >= 0."""
    return CubicSpline(x, y, bc_type=("clamped", "not-a-knot"))


def _staying_one_look_more(
    n: int, r: Array, later: CubicSpline[np.float64], unit: tuple[Array, Array]
) -> Array:
    """P(all looks after the n-th stay within their limits | r_n = r), for every r >= 0.

    ``later`` is the same for the looks after the next, by atanh(r_{n+1}) up to its limit.
    With a = sqrt(n) r, r_{n+1} is greatest at phi = ``peak``, and beyond the limit within ``half``
    of it (and of its mirror image, peak - pi). Only the two stretches between are integrated.
    """
    limit = math.tanh(later.x[-1])
    a = math.sqrt(n) * r
    peak = np.arctan2(1.0, a)
    half = np.arccos(np.minimum(1.0, limit * math.sqrt(n + 1) / np.hypot(1.0, a)))
    reach = min(math.pi / 2, _REACH / math.sqrt(n))
    staying = np.zeros_like(r)
    stretches = ((peak + half - math.pi, peak - half), (peak + half, np.full_like(r, reach)))
    for start, end in np.clip(stretches, -reach, reach):
        phi = start[:, None] + (end - start)[:, None] * unit[0]
        following = np.abs(a[:, None] * np.cos(phi) + np.sin(phi)) / math.sqrt(n + 1)
        following = np.arctanh(np.minimum(following, limit))
        density = np.cos(phi) ** (n - 1) / special.beta(0.5, n / 2)
        staying += (end - start) * ((later(following) * density) @ unit[1])
    return staying


def _mean_at_first_look(
    n: int, staying: CubicSpline[np.float64], unit: tuple[Array, Array]
) -> float:
    """The mean of ``staying`` over r_n = sin(theta), theta with density ~ cos(theta)^(n-2)."""
    end = math.asin(math.tanh(staying.x[-1]))
    theta = end * unit[0]
    density = 2 * np.cos(theta) ** (n - 2) / special.beta(0.5, (n - 1) / 2)
    return end * float((staying(np.arctanh(np.sin(theta))) * density) @ unit[1])
