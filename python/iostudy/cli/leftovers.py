"""Before any other command: what a command that was killed has left behind is put back."""

from __future__ import annotations

from iostudy.cli.console import say
from iostudy.settings.recovery import Recovery, restore_stale


def mend() -> None:
    """Put back, and say what. RestoreError if something could not be put back."""
    tell(restore_stale())


def tell(recovery: Recovery) -> None:
    """Say what was put back; RestoreError for what was not."""
    for text in recovery.undoing.put_back:
        say(f"restored: {text}")
    recovery.undoing.check()
