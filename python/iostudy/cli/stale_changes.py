"""Before any other command: what a command that was killed has left behind is put back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iostudy.cli.console import say
from iostudy.errors import RestoreError, UsageError
from iostudy.settings.transaction.journal import journal_paths
from iostudy.settings.transaction.restored_value import joined
from iostudy.settings.transaction.state import state_directory

if TYPE_CHECKING:
    from iostudy.settings.transaction.recovery import Recovery

CHANGING = ("run", "bench", "set", "hadoop up")
"""The commands that change the host: not on top of what could not be put back."""


def recover_stale_changes(command: str) -> None:
    """Put back, and say what. What cannot be put back is RestoreError for CHANGING, else told.

    So is UsageError for a state directory that cannot be looked into. What is out of reach is only
    reported: `iostudy.settings.transaction.recovery.require_restored` refuses a target that it
    concerns.
    """
    try:
        if journal_paths(state_directory()):
            # Here and not above: all kinds of settings take a tenth of a second to load.
            from iostudy.settings.transaction.recovery import restore_stale

            recovery = restore_stale()
            for error in recovery.undoing.out_of_reach:
                say(f"not restored yet: {error}")
            tell(recovery.within_reach())
    except (RestoreError, UsageError) as error:
        if command in CHANGING:
            raise
        say(f"warning: {error}")


def tell(recovery: Recovery) -> None:
    """Say what was put back; RestoreError for what was not."""
    for text in joined(recovery.undoing.put_back):
        say(f"restored: {text}")
    recovery.undoing.check()
