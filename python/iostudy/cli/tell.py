"""From an output folder to its report: read, written beside the ledger, or printed."""

from __future__ import annotations

from pathlib import Path

from iostudy.cli.console import out
from iostudy.conduct.session import recorded_study
from iostudy.ledger.store import Ledger
from iostudy.report import terminal
from iostudy.report.model import Report, build
from iostudy.report.write import write_all


def read_report(folder: Path) -> Report:
    """The report of what the folder's ledger holds."""
    ledger = Ledger.open(folder)
    try:
        row = ledger.study()
        return build(recorded_study(row), row, ledger.rows())
    finally:
        ledger.close()


def write_report(folder: Path) -> Report:
    """Write report.html, report.md and report.json into the folder."""
    told = read_report(folder)
    write_all(told, folder)
    return told


def print_terminal(told: Report) -> None:
    """The tables and the answer, on stdout."""
    out.print(terminal.render(told))
