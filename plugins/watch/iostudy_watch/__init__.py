"""Live view of the devices, and their activity while a command runs: ``iostudy watch``."""

from __future__ import annotations

from iostudy.plugins import Command, Plugin

PLUGIN = Plugin(
    "watch",
    commands=(
        Command(
            "watch",
            "Show what the devices do, by iostat's figures.",
            "iostudy_watch.cli:watch",
            takes_command_line=True,
        ),
    ),
)
