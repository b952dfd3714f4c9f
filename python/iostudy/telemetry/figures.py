"""Summary of all figures that follow from samples (pure)."""

from __future__ import annotations

from collections.abc import Collection

from iostudy.telemetry.cgroup import compute_caps
from iostudy.telemetry.devices import compute_device_figures
from iostudy.telemetry.machine import compute_machine_figures
from iostudy.telemetry.network import compute_interface_figures
from iostudy.telemetry.nfs import compute_mount_figures
from iostudy.telemetry.processes import (
    compute_foreign_figures,
    compute_workload_figures,
    find_busiest_foreign,
)
from iostudy.telemetry.rate_profile import compute_rate_profiles
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.summary import TelemetrySummary


def summarize_samples(samples: Samples, devices: Collection[str] | None = None) -> TelemetrySummary:
    """Summarize a recording: of these ``devices``, or of all sampled ones."""
    figures, caps = compute_device_figures(samples, devices), compute_caps(samples)
    profiles = compute_rate_profiles(samples, figures)
    known = {
        name: {**own, **profiles.get(name, {}), **caps.get(name, {})}
        for name, own in figures.items()
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
