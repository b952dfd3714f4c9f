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
long washout. Responses slower than the largest tau of the grid remain possible, which is why
whole trials confirm a recommendation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.distributions import t_quantile

Array = NDArray[np.float64]

_CURVE_LEVEL = 0.05
"""Of each end of the interval that a report shows around a curve."""
_CONSTANTS_PER_OCTAVE = 2
LOGARITHM_SLOWS = 1.25
"""A rate that falls by up to a third exponentially takes this much longer in its logarithm."""
LARGEST_AMPLITUDE = math.log(10)
"""Largest response to a switch, as a log-ratio: no setting starts ten times slower or faster."""
MIN_BINS = 9
"""Fewest bins of a curve; its last third is the reference."""
_MIN_CURVES = 3


@dataclass(frozen=True)
class Response:
    """The response to a switch to one level.

    ``curve`` is the mean log rate by bin relative to its last third, ``low`` and ``high`` its
    pointwise interval; all are empty if some bin of any curve has no operation. ``constants`` are
    the tested time constants in seconds, ``bounds`` the largest amplitude of each, as a log-ratio,
    that the curves do not exclude at the level of `estimate_response`, at most
    `LARGEST_AMPLITUDE`. ``late_change`` is the change of the log rate within the later half of a
    curve that is certain and beyond the one that these amplitudes explain; above 0 the response is
    slower than every constant.
    """

    bin_seconds: float
    curve: Array
    low: Array
    high: Array
    constants: Array
    bounds: Array
    late_change: float

    @property
    def slowest_seconds(self) -> float:
        """The largest tested time constant."""
        return float(self.constants[-1])

    def washout(self, window_seconds: float, tolerance: float) -> float:
        """Return the shortest washout in seconds that bounds the bias of such a window.

        It includes one bin, because the first bin begins up to one bin after the switch.
        ``tolerance`` is the largest accepted bias, a log-ratio.
        """
        with np.errstate(divide="ignore"):
            needed = self.constants * np.log(self._initial_bias(window_seconds) / tolerance)
        return max(0.0, float(needed.max())) + self.bin_seconds

    def bias(self, window_seconds: float, washout_seconds: float) -> float:
        """Return the largest bias of such a window after such a washout, as a log-ratio."""
        after = max(0.0, washout_seconds - self.bin_seconds)
        remaining = np.exp(-after / self.constants)
        return float((self._initial_bias(window_seconds) * remaining).max())

    def _initial_bias(self, window_seconds: float) -> Array:
        """The largest bias of a window without a washout, by time constant."""
        share = window_seconds / self.constants
        return np.asarray(self.bounds * -np.expm1(-share) / share)


def estimate_response(
    rates: Array, bin_seconds: float, slowest_seconds: float, level: float
) -> Response:
    """Estimate the response from curves x bins of rates.

    Bin 0 is the first one that begins after the switch. ``slowest_seconds`` is the largest time
    constant to exclude. ``level`` is the largest probability that an amplitude exceeds its bound,
    and half the probability of a late change by chance.
    Bins are merged until each has an operation, because a rate of 0 has no logarithm. Curves that
    give no interval leave the largest amplitude, which still bounds the washout.
    """
    rates, bin_seconds = _merge_bins(rates, bin_seconds)
    constants = _time_constants(bin_seconds, slowest_seconds)
    if len(rates) < _MIN_CURVES or rates.shape[1] < MIN_BINS or (rates <= 0).any():
        none = np.empty(0)
        bounds = np.full(len(constants), LARGEST_AMPLITUDE)
        return Response(bin_seconds, none, none, none, constants, bounds, 0.0)
    logs = np.log(rates)
    logs = logs - logs[:, -(rates.shape[1] // 3) :].mean(axis=1, keepdims=True)
    low, high = _t_interval(logs, _CURVE_LEVEL)
    amplitudes = np.stack([_amplitudes(logs, bin_seconds, each) for each in constants], axis=1)
    largest = np.abs(np.stack(_t_interval(amplitudes, level))).max(axis=0)
    bounds = np.minimum(largest, LARGEST_AMPLITUDE)
    seconds = logs.shape[1] * bin_seconds
    explained = bounds * (np.exp(-seconds / 2 / constants) - np.exp(-seconds / constants))
    certain = _smallest(*_t_interval(_late_changes(logs), level))
    late_change = max(0.0, certain - float(explained.max()))
    return Response(bin_seconds, logs.mean(axis=0), low, high, constants, bounds, late_change)


def _merge_bins(rates: Array, bin_seconds: float) -> tuple[Array, float]:
    """Merge pairs of bins until each has an operation, or too few bins remain."""
    while (rates <= 0).any() and rates.shape[1] >= 2 * MIN_BINS:
        even = rates[:, : rates.shape[1] // 2 * 2]
        rates, bin_seconds = (even[:, ::2] + even[:, 1::2]) / 2, 2 * bin_seconds
    return rates, bin_seconds


def _time_constants(fastest: float, slowest: float) -> Array:
    octaves = max(0.0, math.log2(slowest / fastest))
    count = math.ceil(_CONSTANTS_PER_OCTAVE * octaves) + 1
    return np.geomspace(fastest, max(fastest, LOGARITHM_SLOWS * slowest), count)


def _amplitudes(logs: Array, bin_seconds: float, constant: float) -> Array:
    """Regress each curve on the bin means of exp(-t / constant), with an intercept."""
    edges = np.exp(-np.arange(logs.shape[1] + 1) * bin_seconds / constant)
    basis = -np.diff(edges) * constant / bin_seconds
    centred = basis - basis.mean()
    return np.asarray(logs @ centred / float(centred @ centred))


def _late_changes(logs: Array) -> Array:
    """Return the linear change of each curve within its later half."""
    late = logs[:, logs.shape[1] // 2 :]
    times = np.arange(late.shape[1]) - (late.shape[1] - 1) / 2
    return np.asarray(late @ times / float(times @ times) * late.shape[1])


def _smallest(low: Array, high: Array) -> float:
    """Return the smallest absolute value in an interval."""
    return max(0.0, float(low), -float(high))


def _t_interval(values: Array, level: float) -> tuple[Array, Array]:
    """Return the two-sided interval of the mean over the first axis, at 1 - 2 ``level``."""
    count = len(values)
    half = -t_quantile(count - 1, level) * values.std(axis=0, ddof=1) / math.sqrt(count)
    mean = values.mean(axis=0)
    return np.asarray(mean - half), np.asarray(mean + half)
