"""Signed normal scores: an exact test of the typical difference, and its interval.

For a value theta let R_i be the rank of |d_i - theta| among n differences, and z the quantile of
the normal distribution:

    T(theta) = sum sign(d_i - theta) z(1/2 + R_i / (2 (n + 1)))

If the d_i are symmetric around theta, all signs are equally likely whatever the noise (Fraser 1957;
Hajek, Sidak & Sen 1999). The distribution of T under all sign changes is exact, by convolution of
the scores as whole units. T falls in theta, and changes at the averages (d_i + d_j)/2 only. A
bisection over these gives the ends of the interval of the theta that the test does not reject. The
estimate is where T is zero.

A difference may be infinite. It has the largest score whatever theta is, and one of the other sign
cancels it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iostudy.analysis.distributions import Array, Flags, normal_quantile

_UNITS, _BLOCKS_OF_UNITS = 1000, 64
"""Units of a score of 1 for up to 64 blocks; fewer for more, so that a sum has under 60,000."""


@functools.cache
def _scores(count: int) -> NDArray[np.int64]:
    """The scores of the ranks 1 to ``count``, in units."""
    units = _UNITS / max(1.0, count / _BLOCKS_OF_UNITS)
    ranks = range(1, count + 1)
    return np.array([round(units * normal_quantile(0.5 + r / (2 * (count + 1)))) for r in ranks])


@functools.cache
def _tails(count: int) -> Array:
    """P(T >= t) for t = 0, 1, .. up to the sum of the scores."""
    total = int(_scores(count).sum())
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    # T is the total less twice the scores with a negative sign.
    for score in _scores(count):
        moved = np.zeros_like(chance)
        moved[score:] = chance[: total + 1 - score]
        chance = (chance + moved) / 2
    below = np.cumsum(chance)
    return np.asarray(below[(total - np.arange(total + 1)) // 2])


def is_attainable(count: int, level: float) -> bool:
    """Whether so many differences of one sign reject at a two-sided level."""
    return 2.0 ** (1 - count) <= level


@functools.cache
def _critical_value(count: int, level: float) -> int:
    """The largest T that does not reject at a two-sided level."""
    return int(np.count_nonzero(2 * _tails(count) > level)) - 1


def statistic(differences: Array, theta: ArrayLike) -> Array:
    """Return T in units, along the last axis of ``differences``; tied sizes share their scores."""
    centred = differences - np.asarray(theta, dtype=np.float64)[..., None]
    order = np.argsort(np.abs(centred), axis=-1)
    signed = np.take_along_axis(centred, order, axis=-1)
    in_order = np.abs(signed)
    scores = np.broadcast_to(_scores(signed.shape[-1]), signed.shape)
    with np.errstate(invalid="ignore"):
        tied = (in_order[..., 1:] == in_order[..., :-1]).any(axis=-1)
    if tied.any():
        scores = scores.astype(np.float64)
        for index in zip(*np.nonzero(tied), strict=True):
            _, group, members = np.unique(in_order[index], return_inverse=True, return_counts=True)
            scores[index] = (np.bincount(group, scores[index]) / members)[group]
    return np.asarray((np.sign(signed) * scores).sum(axis=-1))


def exceeds(differences: Array, theta: float, level: float) -> Flags:
    """Whether the typical difference is above ``theta`` (first row), and below ``-theta`` (second).

    The test is at a two-sided level.
    """
    critical = _critical_value(differences.shape[-1], level)
    above, below = statistic(differences, np.array([[theta], [-theta]]))
    return np.array([above > critical, below < -critical])


def interval_ends(differences: Array, level: float) -> tuple[Array, Array]:
    """Return the ends of the interval at a two-sided, attainable level, for each row.

    An end is infinite where the infinite differences suffice for the level.
    """
    low, high = _first_changes(differences, _around(_critical_value(differences.shape[-1], level)))
    return low, high


def centre(differences: Array) -> Array:
    """Return the estimate of each row: where T changes its sign."""
    return _middle(*_first_changes(differences, _around(0.0)))


def estimate(differences: Array, level: float) -> tuple[Array, Array, Array]:
    """Return the estimate of each row with the ends of its interval, as the functions above."""
    limits = *_around(0.0), *_around(_critical_value(differences.shape[-1], level))
    before, after, low, high = _first_changes(differences, limits)
    return _middle(before, after), low, high


def _around(limit: float) -> tuple[float, float]:
    """The limit, and the number before its mirror image: T is at most the limit, or below that."""
    return limit, float(np.nextafter(-limit, -np.inf))


def _middle(low: Array, high: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(low == high, low, (low + high) / 2))


def walsh_averages(differences: Array) -> Array:
    """Return (d_i + d_j)/2 of all i <= j in each row, sorted; infinite ones stand at the ends."""
    count = differences.shape[-1]
    averages = np.empty((len(differences), count * (count + 1) // 2))
    end = 0
    with np.errstate(invalid="ignore"):
        for first in range(count):
            begin, end = end, end + count - first
            np.add(differences[:, first:], differences[:, first, None], out=averages[:, begin:end])
        averages /= 2
    # Two opposite infinities cancel for every theta, so T does not change there.
    averages[np.isnan(averages)] = np.inf
    averages.sort(axis=-1)
    return averages


def _first_changes(differences: Array, limits: Sequence[float]) -> Array:
    """For each limit and row, the average from which T is at most the limit; infinite if none is.

    T is constant between two averages, so it is read in the middle. All rows are bisected at once.
    """
    averages = walsh_averages(differences)
    last = averages.shape[-1]
    finite = np.isfinite(differences)
    ends = (
        np.min(differences, axis=-1, where=finite, initial=np.inf) - 1,
        np.max(differences, axis=-1, where=finite, initial=-np.inf) + 1,
    )
    lowest, highest = (np.where(np.isfinite(end), end, 0.0)[:, None] for end in ends)
    steps = np.clip(np.hstack([averages, np.full((len(averages), 1), np.inf)]), lowest, highest)
    rows, limit = np.arange(len(averages)), np.asarray(limits)[:, None]
    low = np.zeros((len(limits), len(rows)), dtype=np.intp)
    high = np.full_like(low, last)
    while (active := low < high).any():
        middle = np.minimum((low + high) // 2, last - 1)
        theta = (steps[rows, middle] + steps[rows, middle + 1]) / 2
        held = statistic(differences, theta) <= limit
        high = np.where(active & held, middle, high)
        low = np.where(active & ~held, middle + 1, low)
    return np.where(low < last, averages[rows, np.minimum(low, last - 1)], np.inf)
