"""Workloads of high-energy physics: jobs that read events, and the events of ROOT files."""

from __future__ import annotations

from pathlib import Path

from iostudy.plugins import Plugin

PLUGIN = Plugin(
    "hep",
    workloads={
        "events": "iostudy_hep.events:EVENTS",
        "root-events": "iostudy_hep.root_events:ROOT_EVENTS",
    },
    studies=Path(__file__).with_name("studies"),
)
