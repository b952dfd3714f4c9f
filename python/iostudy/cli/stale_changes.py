"""Restores, before any other command, what a killed command left changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from iostudy.cli.console import say
from iostudy.errors import RestoreError, UsageError
from iostudy.settings.change import format_restored
from iostudy.settings.transaction.journal import journal_paths, unfinished_paths
from iostudy.settings.transaction.state import state_directory, take_reports

if TYPE_CHECKING:
    from iostudy.settings.transaction.recovery import Recovery


def recover_stale_changes(*, must_succeed: bool) -> None:
    """Restore stale changes and print them.

    A change that cannot be restored, and a state directory that cannot be examined, are errors for
    a command that changes the host (``must_succeed``), and warnings otherwise. A change out of
    reach is only printed: `iostudy.settings.transaction.recovery.require_restored` refuses a target
    with such a change.
    """
    try:
        directory = state_directory()
        print_watchdog_reports(directory)
        if journal_paths(directory) or unfinished_paths(directory):
            # Imported here: all kinds of settings take a tenth of a second to load.
            from iostudy.settings.transaction.recovery import restore_stale

            recovery = restore_stale()
            for error in recovery.undo_result.out_of_reach:
                say(f"not restored yet: {error}")
            report_recovery(recovery.within_reach())
    except (RestoreError, UsageError) as error:
        if must_succeed:
            raise
        say(f"warning: {error}")


def print_watchdog_reports(directory: Path) -> None:
    """Print what watchdogs have restored since the last command."""
    for line in take_reports(directory):
        say(line)


def report_recovery(recovery: Recovery) -> None:
    """Print what was restored; RestoreError for what was not."""
    for text in format_restored(recovery.undo_result.restored_values):
        say(f"restored: {text}")
    recovery.undo_result.check()
