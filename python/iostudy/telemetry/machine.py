"""Figures of the machine as a whole, put together (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from iostudy.telemetry.cgroup import cgroup_figures
from iostudy.telemetry.clocks import clock_figures
from iostudy.telemetry.heat import heat_figures
from iostudy.telemetry.memory import memory_figures
from iostudy.telemetry.network import tcp_figures
from iostudy.telemetry.processors import processor_figures
from iostudy.telemetry.samples import Samples, totals
from iostudy.telemetry.seen import Figures

_MICROSECONDS = 1e6


def machine_figures(samples: Samples) -> Figures:
    """All figures of the machine that can be told from the samples."""
    seconds = float(samples.seconds[-1])
    figures = {
        **processor_figures(samples),
        **_pressure(totals(samples.group("pressure")), seconds),
        **memory_figures(samples),
        **tcp_figures(samples),
        **cgroup_figures(samples),
        **heat_figures(samples),
        **clock_figures(samples),
    }
    return {name: value for name, value in figures.items() if isfinite(value)}


def _pressure(moved: Mapping[str, float], seconds: float) -> dict[str, float]:
    """Shares of the time in percent in which tasks stood still: ``io_some`` and so on."""
    return {name: 100 * stalled / (seconds * _MICROSECONDS) for name, stalled in moved.items()}
