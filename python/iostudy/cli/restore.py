"""``iostudy restore``: undo everything that iostudy has changed and not yet put back."""

from __future__ import annotations

from typing import Annotated

import typer

from iostudy.cli.console import say
from iostudy.cli.leftovers import tell
from iostudy.settings.recovery import restore_all


def restore(
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite what somebody else has changed meanwhile."),
    ] = False,
) -> None:
    """Put back what `set` holds and what a killed command has left; say what was put back."""
    recovery = restore_all(force=force)
    for owner in recovery.live:
        say(f"left alone: {owner} is at work")
    tell(recovery)
    if not recovery.undoing.put_back:
        say("nothing to restore")
