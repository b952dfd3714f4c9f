"""Figures of the machine as a whole, put together (pure)."""

from __future__ import annotations

from math import isfinite

from iostudy.telemetry.cgroup import cgroup_figures
from iostudy.telemetry.clocks import clock_figures
from iostudy.telemetry.memory import memory_figures
from iostudy.telemetry.network import tcp_figures
from iostudy.telemetry.processors import processor_figures
from iostudy.telemetry.samples import Samples, rates_of_known
from iostudy.telemetry.summary import Figures
from iostudy.telemetry.temperature import heat_figures

_MICROSECONDS = 1e6


def machine_figures(samples: Samples) -> Figures:
    """All figures of the machine that can be told from the samples."""
    figures = {
        **processor_figures(samples),
        **_pressure(samples, "pressure", ""),
        **_pressure(samples, "group_pressure", "group_"),
        **memory_figures(samples),
        **tcp_figures(samples),
        **cgroup_figures(samples),
        **heat_figures(samples),
        **clock_figures(samples),
    }
    return {name: value for name, value in figures.items() if isfinite(value)}


def _pressure(samples: Samples, group: str, whose: str) -> Figures:
    """Shares of the time in percent in which tasks stood still: ``io_some`` and so on.

    Those of the workload's control group begin with ``group_``.
    """
    stalled_us = rates_of_known(samples.group(group), samples.seconds)
    return {whose + name: 100 * share / _MICROSECONDS for name, share in stalled_us.items()}
