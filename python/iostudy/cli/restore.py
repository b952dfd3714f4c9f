"""``iostudy restore``: restore everything that iostudy has changed."""

from __future__ import annotations

from typing import Annotated

import typer

from iostudy.cli.arguments import usage_error
from iostudy.cli.console import say
from iostudy.cli.stale_changes import print_watchdog_reports, report_recovery
from iostudy.settings.change import ConflictPolicy
from iostudy.settings.transaction.recovery import Recovery, restore_all
from iostudy.settings.transaction.state import state_directory


def restore(
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite values that another program has changed since."),
    ] = False,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept",
            help="Keep values that another program has changed or removed, and drop their records.",
        ),
    ] = False,
) -> None:
    """Restore what `set` or a killed command has changed.

    Every restored value is printed.
    """
    print_watchdog_reports(state_directory())
    recovery = restore_all(policy=_conflict_policy(force=force, accept=accept))
    for text in recovery.skip_reasons:
        say(f"left alone: {text}")
    report_recovery(recovery)
    if recovery == Recovery():
        say("nothing to restore")


def _conflict_policy(*, force: bool, accept: bool) -> ConflictPolicy:
    if force and accept:
        raise usage_error(
            "one policy for values that another program has changed",
            "--force and --accept together",
            "give --force to restore the originals, or --accept to keep the current values",
        )
    if force:
        return ConflictPolicy.OVERWRITE
    return ConflictPolicy.ACCEPT if accept else ConflictPolicy.REPORT
