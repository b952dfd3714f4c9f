"""API for plugins of other projects; `iostudy.plugins.API` is its version."""

from __future__ import annotations

from iostudy.errors import WorkloadError
from iostudy.plugins import Command, Plugin
from iostudy.workloads.definition import Figure, WorkloadDefinition, fixed_figures
from iostudy.workloads.measurement import BYTES, EXEC_TIME, Measurement
from iostudy.workloads.option_types import Count, Options, Seconds, Size
from iostudy.workloads.workload import Place, Workload

__all__ = [
    "BYTES",
    "EXEC_TIME",
    "Command",
    "Count",
    "Figure",
    "Measurement",
    "Options",
    "Place",
    "Plugin",
    "Seconds",
    "Size",
    "Workload",
    "WorkloadDefinition",
    "WorkloadError",
    "fixed_figures",
]
