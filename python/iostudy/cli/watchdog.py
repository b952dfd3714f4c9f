"""The watchdog of a command's changes, and a warning where it cannot be started."""

from __future__ import annotations

from pathlib import Path

from iostudy.cli.console import say
from iostudy.settings.commands import CommandError
from iostudy.settings.transaction.watchdog import start_watchdog


def start_or_warn(journal: Path, output_folder: Path | None = None) -> None:
    """Start the watchdog; without one, the next command restores the settings of a killed run."""
    try:
        start_watchdog(journal, output_folder)
    except (CommandError, OSError) as error:
        say(
            f"warning: no watchdog ({error}). If this run is killed, its changes remain until the "
            "next iostudy command"
        )
