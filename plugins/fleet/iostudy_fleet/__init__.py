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
    topics={"together": "iostudy_fleet.together.topic:TOPIC"},
)
