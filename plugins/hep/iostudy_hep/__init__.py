"""Workloads of high-energy physics: the events of ROOT files."""

from __future__ import annotations

from iostudy.plugins import Plugin

PLUGIN = Plugin(
    "hep",
    workloads={"root-events": "iostudy_hep.root_events:ROOT_EVENTS"},
)
