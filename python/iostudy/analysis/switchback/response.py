"""Settling of the rate after a switch, by equivalence over exponential responses.

A level that learns or drains after a switch gives windows that are biased: bfq reaches its rate
after two seconds. An A/A comparison does not show it. The pilot therefore switches to each level
several times and records the log rate x_r(t) after each switch r. For every time constant tau of a
grid, each curve is regressed on exp(-t / tau):

    x_r(t) = c_r + a_r exp(-t / tau) + noise.

The curves are independent replicates, so the mean of a_r has a t interval that holds whatever the
autocorrelation within a curve is. Let U(tau) be the largest |a| in it. A window of length W that
begins w after the switch is biased by at most

    b(tau) = U(tau) exp(-w / tau) (tau / W) (1 - exp(-W / tau)),

and the washout is the shortest w with b(tau) <= tolerance for every tau. This is an
intersection-union test (Berger 1982): every tau is tested at the whole level. A noisy pilot gives a
long washout, and no pilot proves more than it saw: responses slower than the largest tau of the
grid remain possible, which is why whole trials confirm a recommendation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

LEVEL = 0.05
"""The probability, at most, that a longer washout would have been needed for some tau."""
_CONSTANTS_PER_OCTAVE = 2
_LOGARITHM_SLOWS = 1.25
"""A rate that falls by up to a third exponentially takes this much longer in its logarithm."""
_MIN_CURVES = 3


@dataclass(frozen=True)
class Response:
    """The response to a switch to one level.

    ``curve`` is the mean log rate by bin relative to its last third, ``low`` and ``high`` its
    pointwise interval. ``constants`` are the tested time constants in seconds, ``bounds`` the
    largest amplitude of each, as a log-ratio, that the curves do not exclude.
    """

    bin_seconds: float
    curve: Array
    low: Array
    high: Array
    constants: Array
    bounds: Array

    def washout(self, window_seconds: float, tolerance: float) -> float:
        """Return the shortest washout in seconds that bounds the bias of such a window.

        It includes one bin, because the first bin begins up to one bin after the switch.
        ``tolerance`` is the largest accepted bias, a log-ratio.
        """
        share = window_seconds / self.constants
        bias = self.bounds * -np.expm1(-share) / share
        with np.errstate(divide="ignore"):
            needed = self.constants * np.log(bias / tolerance)
        return max(0.0, float(needed.max())) + self.bin_seconds


def estimate_response(rates: Array, bin_seconds: float, slowest_seconds: float) -> Response | None:
    """Estimate the response from curves x bins of rates; None where no interval exists.

    Bin 0 is the first one that begins after the switch. ``slowest_seconds`` is the largest time
    constant to exclude. A bin without an operation gives None: its rate has no logarithm.
    """
    if len(rates) < _MIN_CURVES or rates.shape[1] < _MIN_CURVES or (rates <= 0).any():
        return None
    logs = np.log(rates)
    logs = logs - logs[:, -(rates.shape[1] // 3) :].mean(axis=1, keepdims=True)
    low, high = _t_interval(logs)
    constants = _time_constants(bin_seconds, slowest_seconds)
    amplitudes = np.stack([_amplitudes(logs, bin_seconds, each) for each in constants], axis=1)
    bounds = np.abs(np.stack(_t_interval(amplitudes))).max(axis=0)
    return Response(bin_seconds, logs.mean(axis=0), low, high, constants, bounds)


def _time_constants(fastest: float, slowest: float) -> Array:
    octaves = max(0.0, math.log2(slowest / fastest))
    count = math.ceil(_CONSTANTS_PER_OCTAVE * octaves) + 1
    return np.geomspace(fastest, max(fastest, _LOGARITHM_SLOWS * slowest), count)


def _amplitudes(logs: Array, bin_seconds: float, constant: float) -> Array:
    """Regress each curve on the bin means of exp(-t / constant), with an intercept."""
    edges = np.exp(-np.arange(logs.shape[1] + 1) * bin_seconds / constant)
    basis = -np.diff(edges) * constant / bin_seconds
    centred = basis - basis.mean()
    return np.asarray(logs @ centred / float(centred @ centred))


def _t_interval(values: Array) -> tuple[Array, Array]:
    """Return the two-sided interval of the mean over the first axis, at 1 - 2 LEVEL."""
    count = len(values)
    half = -special.stdtrit(count - 1, LEVEL) * values.std(axis=0, ddof=1) / math.sqrt(count)
    mean = values.mean(axis=0)
    return np.asarray(mean - half), np.asarray(mean + half)
