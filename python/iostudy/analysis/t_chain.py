"""Exact distribution of a t statistic that is tested repeatedly, as a Markov chain.

Let x_1, x_2, ... be independent N(0, sigma^2) and r_n = sum(x_i) / sqrt(n * sum(x_i^2)); the t
statistic is T_n = sqrt(n-1) r_n / sqrt(1 - r_n^2). The distribution of r_2 .. r_n does not depend
on sigma, so they are independent of the sufficient statistic sum(x_i^2) (Basu). For k further
values with the sum sqrt(k) u and the residual sum of squares w^2, the shares of sum(x_i^2), u^2 and
w^2 in their total are therefore Dirichlet(n/2, 1/2, (k-1)/2) and independent of r_n. With w^2 the
share v, and an angle phi of density ~ cos(phi)^(n-1),

    r_{n+k} = sqrt(1 - v) (sqrt(n) r_n cos(phi) + sqrt(k) sin(phi)) / sqrt(n+k),

so that r_n is a Markov chain on (-1, 1), as in Jennison & Turnbull (1991) for sequential t tests.

The part of the distribution that has stayed within all boundaries is symmetric about 0. It is held
as weights w_j with E f(r_n) = sum(w_j f(x_j)) for even functions f, on an even grid x_j of
atanh(r_n) = asinh(T_n / sqrt(n-1)): fine where T_n is small, and wide enough for the large
boundaries of the first analyses. Between grid points f is a cubic spline.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from iostudy.analysis.distributions import Array, beta_function, beta_quadrature, t_cdf, t_quantile

GRID_POINTS, PHI_POINTS, V_POINTS = 129, 32, 4
"""Points of the grid and of the quadratures of phi and of v.

Doubling each number changes the risk by less than 1 % of itself.
"""
_REACH = 8.0
"""Less than 1e-15 of the distribution of phi lies beyond this many standard deviations."""


@dataclass(frozen=True)
class StayedInside:
    """The distribution of r_n over the studies that have stayed within all boundaries up to n.

    ``end`` is the last boundary as atanh(r_n). ``weights`` are those of the grid from 0 to ``end``.
    """

    blocks: int
    end: float
    weights: Array

    @classmethod
    def first(cls, blocks: int, level: float) -> StayedInside:
        """Return the distribution after a first analysis at a two-sided level.

        There r_n = sin(theta), with the density ~ cos(theta)^(n-2).
        """
        end = boundary(blocks, level)
        points, weights = _unit_interval(PHI_POINTS)
        width = math.asin(math.tanh(end))
        theta = width * points
        density = 2 * np.cos(theta) ** (blocks - 2) / beta_function(0.5, (blocks - 1) / 2)
        at = np.arctanh(np.sin(theta))
        return cls(blocks, end, spline_weights(end, at, width * density * weights, GRID_POINTS))

    @property
    def probability(self) -> float:
        """The probability to stay within all boundaries."""
        return float(self.weights.sum())

    def leaving(self, blocks: int, level: float) -> float:
        """Return the probability to stay until now and to leave at the analysis of ``blocks``.

        r_{n+k} is largest at phi = ``peak`` and exceeds the boundary within ``half`` of it, and of
        its mirror image peak - pi. One of the two ranges always ends beyond -+ pi/2.
        """
        share, probability = self._residual_shares(blocks)
        peak, length = self._peak(blocks)
        limit = math.tanh(boundary(blocks, level)) * math.sqrt(blocks) / np.sqrt(1 - share)
        # From most of the grid no phi reaches the boundary.
        cell, of_share = np.nonzero(limit < length[:, None])
        peak, half = peak[cell], np.arccos(limit[of_share] / length[cell])
        end = peak + half
        mirrored = end > math.pi / 2
        beyond, rest = self._beyond(np.stack((peak - half, np.where(mirrored, math.pi - end, end))))
        leaving = beyond + np.where(mirrored, rest, -rest)
        return float((self.weights[cell] * probability[of_share]) @ leaving)

    def after(self, blocks: int, level: float) -> StayedInside:
        """Return the distribution after the analysis of ``blocks`` at a two-sided level."""
        end = boundary(blocks, level)
        following = np.zeros(GRID_POINTS)
        for share, probability in zip(*self._residual_shares(blocks), strict=True):
            at, weights = self._arrivals(blocks, math.tanh(end), share)
            following += probability * spline_weights(end, at, weights, GRID_POINTS)
        return StayedInside(blocks, end, following)

    def _arrivals(self, blocks: int, limit: float, share: float) -> tuple[Array, Array]:
        """The points atanh(|r_{n+k}|) within the limit that have the residual share, and weights.

        The two ranges of phi between the ranges that leave are integrated.
        """
        points, weights = _unit_interval(PHI_POINTS)
        a, step = math.sqrt(self.blocks) * self._r, math.sqrt(blocks - self.blocks)
        scale = math.sqrt((1 - share) / blocks)
        peak, length = self._peak(blocks)
        half = np.arccos(np.minimum(1.0, limit / (scale * length)))
        reach = min(math.pi / 2, _REACH / math.sqrt(self.blocks))
        start = np.concatenate((peak + half - math.pi, peak + half)).clip(-reach, reach)
        end = np.concatenate((peak - half, np.full_like(half, reach))).clip(-reach, reach)
        # With many analyses one of the two ranges is empty for nearly every r.
        some = np.flatnonzero(end > start)
        cell, width = some % len(a), (end - start)[some]
        phi = start[some, None] + width[:, None] * points
        sine = np.sin(phi)
        cosine = np.sqrt((1 - sine) * (1 + sine))
        r = scale * np.abs(a[cell, None] * cosine + step * sine)
        density = cosine ** (self.blocks - 1) / beta_function(0.5, self.blocks / 2)
        mass = (self.weights[cell] * width)[:, None] * density * weights
        return np.arctanh(np.minimum(r, limit)).ravel(), mass.ravel()

    @functools.cached_property
    def _r(self) -> Array:
        return np.asarray(np.tanh(np.linspace(0.0, self.end, GRID_POINTS)))

    def _peak(self, blocks: int) -> tuple[Array, Array]:
        """The phi of the largest r_{n+k} for each r_n, and the length of (sqrt(n) r_n, sqrt(k))."""
        a, step = math.sqrt(self.blocks) * self._r, math.sqrt(blocks - self.blocks)
        return np.arctan2(step, a), np.hypot(step, a)

    def _beyond(self, phi: Array) -> Array:
        """P(an angle exceeds phi): sqrt(n) tan(angle) has Student's t distribution with n df."""
        return np.asarray(t_cdf(self.blocks, -math.sqrt(self.blocks) * np.tan(phi)))

    def _residual_shares(self, blocks: int) -> tuple[Array, Array]:
        """Values of v with their probabilities, by Gauss-Jacobi quadrature; 0 for a single step."""
        if blocks == self.blocks + 1:
            return np.zeros(1), np.ones(1)
        freedom = (blocks - self.blocks - 1) / 2, (self.blocks + 1) / 2
        return beta_quadrature(*freedom, V_POINTS)


def boundary(blocks: int, level: float) -> float:
    """Return the atanh(r_n) that corresponds to |T_n| = t(1 - level/2, n-1)."""
    return math.asinh(-float(t_quantile(blocks - 1, level / 2)) / math.sqrt(blocks - 1))


@functools.cache
def _unit_interval(points: int) -> tuple[Array, Array]:
    """Points and weights of the Gauss-Legendre quadrature on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return (nodes + 1) / 2, weights / 2


def spline_weights(end: float, at: Array, mass: Array, points: int) -> Array:
    """Return w with sum(mass * f(at)) = sum(w * f(grid)) for cubic splines f, even about 0.

    The grid has ``points`` even steps from 0 to ``end``.
    """
    fraction = at * ((points - 1) / end)
    before = np.minimum(fraction.astype(np.intp), points - 2)
    fraction -= before
    square, cube = fraction**2, fraction**2 * fraction
    rise = 3 * square - 2 * cube
    values = np.bincount(before, mass * (1 - rise), points)
    values += np.bincount(before + 1, mass * rise, points)
    slopes = np.bincount(before, mass * (fraction - 2 * square + cube), points)
    slopes += np.bincount(before + 1, mass * (cube - square), points)
    return np.asarray(values + slopes @ _slopes(points))


@functools.cache
def _slopes(points: int) -> Array:
    """The matrix that maps values of a cubic spline to slopes, in units of a grid step.

    The second derivative is continuous, the slope is 0 at the start, and the last two pieces are
    one polynomial ("not a knot"): de Boor, A Practical Guide to Splines (2001), chapter IV. On an
    even grid one matrix serves all splines.
    """
    left, right = 4 * np.eye(points), np.zeros((points, points))
    inner = np.arange(1, points - 1)
    left[inner, inner - 1] = left[inner, inner + 1] = 1
    right[inner, inner - 1], right[inner, inner + 1] = -3, 3
    left[0, 0] = 1
    left[-1, -2:] = 2, 1
    right[-1, -3:] = -0.5, -2, 2.5
    return np.asarray(np.linalg.solve(left, right))
