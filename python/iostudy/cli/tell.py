"""From an output folder to its report: read, written beside the ledger, or printed."""

from __future__ import annotations

from pathlib import Path

from iostudy.cli.console import out
from iostudy.conduct.session import recorded_study
from iostudy.errors import RecordError
from iostudy.ledger.store import Ledger
from iostudy.report import terminal
from iostudy.report.model import build
from iostudy.report.values import Report
from iostudy.report.write import write_all


def read_report(folder: Path) -> Report:
    """The report of what the folder's ledger holds."""
    ledger = Ledger.open(folder, read_only=True)
    try:
        row = ledger.study()
        return build(recorded_study(row), row, ledger.rows())
    finally:
        ledger.close()


def write_report(folder: Path) -> Report:
    """Write report.html, report.md and report.json into the folder; RecordError if that fails."""
    told = read_report(folder)
    try:
        write_all(told, folder)
    except OSError as error:
        raise RecordError(
            "to write the report",
            found=error.strerror or str(error),
            where=str(folder),
            remedy=f"make room there; `iostudy report {folder}` tells it without writing",
        ) from error
    return told


def print_terminal(told: Report) -> None:
    """All that is told, on stdout."""
    out.print(terminal.render(told))


def print_summary(told: Report) -> None:
    """The verdicts and the answer alone, on stdout."""
    out.print(terminal.summary(told))
