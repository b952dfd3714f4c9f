"""Synthetic rates of a device after switches, with slow and fast noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BIN_SECONDS = 0.05
WHITE, SLOW, CORRELATION = 0.09, 0.04, 0.97
"""Noise of a bin as measured on a shared virtual disk: 9 % at 50 ms, and 4 % over seconds."""


def noise(draw: np.random.Generator, *shape: int) -> Array:
    """Log noise, white and AR(1), along the last axis."""
    white = WHITE * draw.standard_normal(shape)
    steps = SLOW * np.sqrt(1 - CORRELATION**2) * draw.standard_normal(shape)
    slow = np.empty(shape)
    slow[..., 0] = SLOW * draw.standard_normal(shape[:-1])
    for index in range(1, shape[-1]):
        slow[..., index] = CORRELATION * slow[..., index - 1] + steps[..., index]
    return white + slow


def responses(
    draw: np.random.Generator, curves: int, seconds: float, amplitude: float, constant: float
) -> Array:
    """Rates by curve and bin: 1000 (1 + amplitude exp(-t / constant)) with noise."""
    bins = round(seconds / BIN_SECONDS)
    times = (np.arange(bins) + 0.5) * BIN_SECONDS
    mean = np.log(1000 * (1 + amplitude * np.exp(-times / constant)))
    return np.asarray(np.exp(mean + noise(draw, curves, bins)))


def window_bias(washout: float, window: float, amplitude: float, constant: float) -> float:
    """The log-ratio of the mean rate of a window to the final rate."""
    share = np.exp(-washout / constant) * constant / window * -np.expm1(-window / constant)
    return float(np.log1p(amplitude * share))
