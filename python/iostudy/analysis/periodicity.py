"""Period of a series at uneven times, by its Lomb-Scargle periodogram (Lomb 1976; Scargle 1982)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVEL = 0.05
"""Probability that pure chance gives a period."""
_SEED = 20_031
_DRAWS = 499
_MIN_VALUES = 12
_CYCLES = 3
"""Fewest cycles in the series."""
_OVERSAMPLING = 4
"""Frequencies for each independent one, so that no peak lies between two."""


def find_period(times: Array, values: Array) -> float | None:
    """Return the period in the unit of ``times``; None without one.

    The highest peak has to exceed those of random permutations of the values. Periods are at least
    twice the median distance of two values: shorter ones would appear as longer ones.
    """
    order = np.argsort(times)
    at, own = times[order], values[order] - values.mean()
    if len(at) < _MIN_VALUES or not own.any() or at[-1] <= at[0]:
        return None
    span = float(at[-1] - at[0])
    highest = span / (2 * float(np.median(np.diff(at))))
    cycles = np.arange(_CYCLES, highest, 1 / _OVERSAMPLING)
    if not len(cycles):
        return None
    generator = np.random.default_rng(_SEED)
    shuffled = generator.permuted(np.tile(own, (_DRAWS, 1)), axis=1)
    powers = _periodogram(at, np.vstack([own, shuffled]), cycles / span)
    peak = float(powers[0].max())
    p = (int((powers[1:].max(axis=1) >= peak).sum()) + 1) / (_DRAWS + 1)
    return span / float(cycles[np.argmax(powers[0])]) if p < LEVEL else None


def _periodogram(times: Array, series: Array, frequencies: Array) -> Array:
    """Return the power of each series (rows) at each frequency.

    The power is the sum of squares that a sine and a cosine explain.
    """
    angles = 2 * np.pi * np.outer(frequencies, times)
    doubled = np.exp(2j * angles).sum(axis=1)
    shifted = angles - (np.angle(doubled) / 2)[:, None]
    power = np.zeros((len(series), len(frequencies)))
    for wave in (np.cos(shifted), np.sin(shifted)):
        squares = np.maximum((wave**2).sum(axis=1), np.finfo(float).tiny)
        power += (series @ wave.T) ** 2 / squares
    return power
