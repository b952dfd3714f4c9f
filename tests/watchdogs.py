"""Watchdogs of killed runs, for tests of what happens without them."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path


def find_watchdogs(state_directory: str) -> list[int]:
    """Return the processes of watchdogs that wait for a journal there, or restore it."""
    entries = [entry for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    return [int(entry.name) for entry in entries if _is_watchdog(entry, state_directory)]


def kill_watchdogs(state_directory: str) -> None:
    """Kill the watchdogs, so that the next command has to restore."""
    for pid in find_watchdogs(state_directory):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _is_watchdog(process: Path, state_directory: str) -> bool:
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
    except OSError:  # it has ended
        return False
    is_script = any(
        word.endswith(b"watchdog.sh") or word == b"iostudy.cli.watchdog_recovery" for word in words
    )
    return is_script and any(word.startswith(os.fsencode(state_directory)) for word in words)
