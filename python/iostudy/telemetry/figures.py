"""All figures that follow from samples (pure)."""

from __future__ import annotations

from collections.abc import Collection

from iostudy.telemetry.cgroup import caps_by_device
from iostudy.telemetry.devices import figures_by_device
from iostudy.telemetry.machine import machine_figures
from iostudy.telemetry.network import figures_by_interface
from iostudy.telemetry.nfs import figures_by_mount
from iostudy.telemetry.processes import busiest_foreign, foreign_figures, workload_figures
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.summary import TelemetrySummary


def tell(samples: Samples, devices: Collection[str] | None = None) -> TelemetrySummary:
    """The figures of a recording: of those ``devices``, None for all that were sampled."""
    figures, caps = figures_by_device(samples, devices), caps_by_device(samples)
    capped = {name: {**figures[name], **own} for name, own in caps.items() if name in figures}
    return TelemetrySummary(
        seconds=float(samples.seconds[-1]),
        devices={**figures, **capped},
        network=figures_by_interface(samples),
        nfs=figures_by_mount(samples),
        machine={**machine_figures(samples), **foreign_figures(samples)},
        workload=workload_figures(samples),
        foreign=busiest_foreign(samples.processes),
    )
