"""``iostudy restore``: undo everything that iostudy has changed and not yet put back."""

from __future__ import annotations

from typing import Annotated

import typer

from iostudy.cli.console import say
from iostudy.cli.stale_changes import tell
from iostudy.errors import UsageError
from iostudy.settings.change import ConflictPolicy
from iostudy.settings.transaction.recovery import Recovery, restore_all


def restore(
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite what somebody else has changed meanwhile."),
    ] = False,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept", help="Leave what somebody else has changed or what is gone, and forget it."
        ),
    ] = False,
) -> None:
    """Put back what `set` holds and what a killed command has left; say what was put back."""
    recovery = restore_all(foreign=_foreign(force=force, accept=accept))
    for text in recovery.left_alone:
        say(f"left alone: {text}")
    tell(recovery)
    if recovery == Recovery():
        say("nothing to restore")


def _foreign(*, force: bool, accept: bool) -> ConflictPolicy:
    if force and accept:
        raise UsageError(
            "one way to treat what somebody else has changed",
            found="--force and --accept together",
            where="the command line",
            remedy="--force writes back what was there before, --accept leaves it: give one",
        )
    if force:
        return ConflictPolicy.OVERWRITE
    return ConflictPolicy.ACCEPT if accept else ConflictPolicy.REPORT
