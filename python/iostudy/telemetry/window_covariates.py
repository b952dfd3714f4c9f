"""Covariates of windows, from the samples of the run that contains them (pure)."""

from __future__ import annotations

import numpy as np

from iostudy.telemetry.covariates import Covariate
from iostudy.telemetry.samples import Samples, Values

WINDOW_COLUMNS = ("clock.", "cpu.", "foreign.")
"""Prefixes of the columns that `compute_window_covariates` needs."""
_NANOSECONDS, _MICROSECONDS = 1e9, 1e6


def compute_window_covariates(
    samples: Samples, starts: Values, ends: Values
) -> dict[Covariate, Values]:
    """Compute the covariates of windows as fractions; an unknown one is absent or NaN.

    ``starts`` and ``ends`` are Unix times. Counters are interpolated between samples, so a window
    shares what happens between two samples with its neighbours. Foreign I/O is unknown: the bytes
    of a window are not those that its disks move in it.
    """
    clock = samples.group("clock").get("realtime_ns")
    if clock is None:
        return {}
    found, times = dict[Covariate, Values](), clock / _NANOSECONDS
    states = samples.group("cpu")
    cores = sum(name.isdecimal() for name in samples.keyed("cpu"))
    if "steal" in states:
        total = _increments(times, np.sum(list(states.values()), axis=0), starts, ends)
        total[total <= 0] = np.nan
        found[Covariate.STEAL] = _increments(times, states["steal"], starts, ends) / total
    if (foreign := samples.group("foreign").get("cpu_us")) is not None and cores:
        microseconds = (ends - starts) * cores * _MICROSECONDS
        found[Covariate.FOREIGN_CPU] = _increments(times, foreign, starts, ends) / microseconds
    return found


def _increments(times: Values, counter: Values, starts: Values, ends: Values) -> Values:
    """Return the interpolated increments of a counter; NaN beyond its known values."""
    known = np.isfinite(counter) & np.isfinite(times)
    if not known.any():
        return np.full(len(starts), np.nan)
    at_starts, at_ends = (
        np.interp(each, times[known], counter[known], left=np.nan, right=np.nan)
        for each in (starts, ends)
    )
    return np.asarray(at_ends - at_starts)
