"""One study on many hosts, over ssh or Slurm: agents, supervision, two designs, pooled results."""

from __future__ import annotations

from iostudy.plugins import Command, Plugin

PLUGIN = Plugin(
    "fleet",
    commands=(
        Command(
            "fleet",
            "Run one study on several nodes; pool the results.",
            "iostudy_fleet.cli.command:app",
        ),
    ),
    sections={"nodes": "iostudy_fleet.study.section:KEY"},
    checks=("iostudy_fleet.study.check:check_load",),
    topics={"together": "iostudy_fleet.together.topic:TOPIC"},
)
