"""Disturbances of trials and windows from outside the study, measured as covariates (pure).

A covariate never excludes a trial by default: see "Covariates" in docs/method/validity.md.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from iostudy.telemetry.samples import Samples, Values
from iostudy.telemetry.summary import TelemetrySummary


class Covariate(StrEnum):
    """A disturbance that is measured in every trial, as a share."""

    STEAL = "steal"
    FOREIGN_CPU = "foreign CPU"
    FOREIGN_IO = "foreign I/O"

    @property
    def whole(self) -> str:
        """The quantity of which it is a share."""
        match self:
            case Covariate.STEAL | Covariate.FOREIGN_CPU:
                return "the CPU time"
            case Covariate.FOREIGN_IO:
                return "the workload's own bytes"


FOREIGN_FIGURE = "%foreign"
"""The telemetry figure of foreign I/O, in percent of the workload's own bytes."""


def compute_covariates(summary: TelemetrySummary) -> dict[Covariate, float]:
    """Compute the covariates of a trial as fractions; an unknown one is absent.

    Sources: ``%steal`` of proc_stat(5); ``foreign_%cpu`` of all cores; `FOREIGN_FIGURE`, which
    `iostudy.execution.validity.foreign_io_share` computes when the trial ends.
    """
    machine, figures = summary.machine, dict[Covariate, float]()
    if "%steal" in machine:
        figures[Covariate.STEAL] = machine["%steal"] / 100
    if machine.keys() >= {"foreign_%cpu", "cores"}:
        figures[Covariate.FOREIGN_CPU] = machine["foreign_%cpu"] / 100 / machine["cores"]
    if FOREIGN_FIGURE in machine:
        figures[Covariate.FOREIGN_IO] = machine[FOREIGN_FIGURE] / 100
    return figures


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
    figures, times = dict[Covariate, Values](), clock / _NANOSECONDS
    states = samples.group("cpu")
    cores = sum(name.isdecimal() for name in samples.keyed("cpu"))
    if "steal" in states:
        total = _increments(times, np.sum(list(states.values()), axis=0), starts, ends)
        total[total <= 0] = np.nan
        figures[Covariate.STEAL] = _increments(times, states["steal"], starts, ends) / total
    if (foreign := samples.group("foreign").get("cpu_us")) is not None and cores:
        microseconds = (ends - starts) * cores * _MICROSECONDS
        figures[Covariate.FOREIGN_CPU] = _increments(times, foreign, starts, ends) / microseconds
    return figures


def _increments(times: Values, counter: Values, starts: Values, ends: Values) -> Values:
    """Return the interpolated increments of a counter; NaN beyond its known values."""
    known = np.isfinite(counter) & np.isfinite(times)
    if not known.any():
        return np.full(len(starts), np.nan)
    at_starts, at_ends = (
        np.interp(instants, times[known], counter[known], left=np.nan, right=np.nan)
        for instants in (starts, ends)
    )
    return np.asarray(at_ends - at_starts)
