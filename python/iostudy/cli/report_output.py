"""From an output folder to its report: read, written beside the ledger, or printed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from iostudy.cli.console import out, say
from iostudy.errors import RecordError
from iostudy.folders import require_safe_folder
from iostudy.ledger.given_up import GivenUpRecord
from iostudy.ledger.samples import read_samples
from iostudy.ledger.studies import confirmation_in, open_ledger, read_search, read_study
from iostudy.report import figure_files, terminal
from iostudy.report.build import build
from iostudy.report.comparable import Recorded
from iostudy.report.search_report import build_search
from iostudy.report.section import Document
from iostudy.report.values.report import Report
from iostudy.report.write import write_all
from iostudy.study.model import Study


def read_report(folder: Path, reference: str | None = None) -> Report:
    """The report of what the folder's ledger holds; with ``reference``, beside that publication."""
    found, where = read_search(folder), str(folder.absolute())
    if found is None:
        own = _beside(read_recorded(folder), reference)
        return build(own.study, own.row, own.rows, where, own.samples, own.given_up)
    confirmed = confirmation_in(folder)
    return build_search(
        replace(found, study=_naming(found.study, reference)),
        None if confirmed is None else _beside(read_recorded(confirmed), reference),
        where,
        partial(read_samples, folder),
    )


def _beside(told: Recorded, reference: str | None) -> Recorded:
    return replace(told, study=_naming(told.study, reference))


def _naming(study: Study, reference: str | None) -> Study:
    return replace(study, reference=reference or study.reference)


def read_recorded(folder: Path) -> Recorded:
    """The study that the folder's ledger holds; LedgerError without one."""
    with open_ledger(folder) as ledger:
        return Recorded(
            str(folder),
            read_study(ledger),
            ledger.study(),
            ledger.rows(),
            partial(read_samples, folder),
            GivenUpRecord(ledger).all(),
        )


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


def write_figures(told: Report, folder: Path, *, unsafe_folders: bool) -> None:
    """Write every figure as SVG and PNG into the folder; RecordError if that fails.

    UnsafePathError for a folder that another user could redirect, see `require_safe_folder`.
    """
    require_safe_folder(folder, insist=unsafe_folders)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        require_safe_folder(folder, insist=unsafe_folders)
        paths = figure_files.write(told, folder)
    except OSError as error:
        raise RecordError(
            "to write figures into a folder",
            found=error.strerror or str(error),
            where=error.filename or str(folder),
            remedy="give a folder that can be made or written to, with room in it",
        ) from error
    say(f"{len(paths)} figures are in {folder}")


def print_terminal(told: Report) -> None:
    """All that is told, on stdout."""
    out.print(terminal.render(told))


def print_document(told: Document) -> None:
    """What is told on its own, on stdout."""
    out.print(terminal.document(told))


def print_summary(told: Report) -> None:
    """The verdicts and the answer alone, on stdout."""
    out.print(terminal.summary(told))
