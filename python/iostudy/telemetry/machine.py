"""Figures of the machine as a whole (pure)."""

from __future__ import annotations

from math import isfinite

from iostudy.telemetry.cgroup import compute_cgroup_figures
from iostudy.telemetry.clocks import compute_clock_figures
from iostudy.telemetry.frequency import compute_frequency_figures
from iostudy.telemetry.memory import compute_memory_figures
from iostudy.telemetry.network import compute_tcp_figures
from iostudy.telemetry.page_cache_growth import compute_growth_figures
from iostudy.telemetry.processors import compute_processor_figures
from iostudy.telemetry.samples import Samples, mean_rates
from iostudy.telemetry.summary import Figures
from iostudy.telemetry.temperature import compute_temperature_figures

_MICROSECONDS = 1e6


def compute_machine_figures(samples: Samples) -> Figures:
    """Compute all figures of the machine that the samples allow."""
    figures = {
        **compute_processor_figures(samples),
        **_pressure(samples, "pressure", ""),
        **_pressure(samples, "group_pressure", "group_"),
        **compute_memory_figures(samples),
        **compute_growth_figures(samples),
        **compute_tcp_figures(samples),
        **compute_cgroup_figures(samples),
        **compute_frequency_figures(samples),
        **compute_temperature_figures(samples),
        **compute_clock_figures(samples),
    }
    return {name: value for name, value in figures.items() if isfinite(value)}


def _pressure(samples: Samples, group: str, prefix: str) -> Figures:
    """Compute the shares of the time in percent in which tasks stalled: ``io_some`` and so on.

    Those of the workload's control group begin with ``group_``.
    """
    stalled_us = mean_rates(samples.group(group), samples.seconds)
    return {prefix + name: 100 * share / _MICROSECONDS for name, share in stalled_us.items()}
