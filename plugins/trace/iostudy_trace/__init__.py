"""Traces of block events: their recording, their summary, and their replay on simulated drives."""

from __future__ import annotations

from iostudy.plugins import Command, Plugin

PLUGIN = Plugin(
    "trace",
    commands=(
        Command(
            "trace",
            "Record block events with their processes; summarize a trace.",
            "iostudy_trace.cli:app",
        ),
    ),
    workloads={"trace": "iostudy_trace.workload:TRACE"},
)
