"""Reports of watchdogs in the state directory, which the next command prints."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from iostudy import durable
from iostudy.safe_path import read_regular, require_safe
from iostudy.settings.transaction import state
from iostudy.units import MIB

SUFFIX = ".watchdog"
_MAX_BYTES = 16 * MIB


def write_report(directory: Path, lines: Sequence[str]) -> None:
    """Keep the lines for the next command; OSError as it comes."""
    text = "".join(f"{line}\n" for line in lines)
    path = directory / f"{time.time_ns():020d}{SUFFIX}"
    durable.write_whole(path, text.encode(errors="surrogateescape"))


def take_reports(directory: Path) -> tuple[str, ...]:
    """Return the lines of all reports, oldest first, and remove the reports.

    UsageError if the directory is unreadable, UnsafePathError if another user could write to it.
    """
    lines: list[str] = []
    try:
        require_safe(directory)
        paths = sorted(path for path in directory.iterdir() if path.suffix == SUFFIX)
        for path in paths:
            lines += read_regular(path, _MAX_BYTES).decode(errors="replace").splitlines()
            path.unlink(missing_ok=True)
    except FileNotFoundError:  # no state directory, or another command printed the report
        return tuple(lines)
    except OSError as error:
        raise state.unusable(directory, error) from error
    return tuple(lines)
