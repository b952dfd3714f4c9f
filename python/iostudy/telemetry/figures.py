"""Summary of all figures that follow from samples (pure)."""

from __future__ import annotations

from collections.abc import Collection
from math import isfinite

from iostudy.telemetry.cgroup import compute_caps, compute_cgroup_figures
from iostudy.telemetry.iostat import compute_device_figures
from iostudy.telemetry.memory import compute_growth_figures, compute_memory_figures
from iostudy.telemetry.network import (
    compute_interface_figures,
    compute_mount_figures,
    compute_tcp_figures,
)
from iostudy.telemetry.processes import (
    compute_foreign_figures,
    compute_workload_figures,
    find_busiest_foreign,
)
from iostudy.telemetry.processors import (
    compute_clock_figures,
    compute_frequency_figures,
    compute_processor_figures,
    compute_temperature_figures,
)
from iostudy.telemetry.rate_profile import compute_rate_profiles
from iostudy.telemetry.samples import Samples, mean_rates
from iostudy.telemetry.summary import Figures, TelemetrySummary


def summarize_samples(samples: Samples, devices: Collection[str] | None = None) -> TelemetrySummary:
    """Summarize a recording: of these ``devices``, or of all sampled ones."""
    figures, caps = compute_device_figures(samples, devices), compute_caps(samples)
    profiles = compute_rate_profiles(samples, figures)
    known = {
        name: {**values, **profiles.get(name, {}), **caps.get(name, {})}
        for name, values in figures.items()
    }
    return TelemetrySummary(
        seconds=float(samples.seconds[-1]),
        devices=known,
        network=compute_interface_figures(samples),
        nfs=compute_mount_figures(samples),
        machine={**compute_machine_figures(samples), **compute_foreign_figures(samples)},
        workload=compute_workload_figures(samples),
        foreign=find_busiest_foreign(samples.processes),
    )


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
