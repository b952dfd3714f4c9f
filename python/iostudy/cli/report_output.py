"""Reads the report of an output folder, writes it next to the ledger, or prints it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from iostudy import plugins
from iostudy.cli.console import print_renderable, say
from iostudy.errors import RecordError
from iostudy.extras import require_extra
from iostudy.folders import make_output_folder
from iostudy.ledger.given_up_workloads import GivenUpRecord
from iostudy.ledger.samples import read_samples
from iostudy.ledger.studies import open_ledger, read_study
from iostudy.ledger.windows import WindowRecord
from iostudy.report.build import build_report
from iostudy.report.render import terminal
from iostudy.report.section import Document
from iostudy.report.values import Report
from iostudy.results.recorded_study import RecordedStudy
from iostudy.study.mode import find_mode


def read_report(folder: Path, reference: str | None = None, *, samples: bool = True) -> Report:
    """Build the report of the folder's ledger, compared with ``reference``, with its samples."""
    recorded = read_recorded(folder, reference)
    if read := find_mode(recorded.study).report:
        report: Report = plugins.load(read)(folder, reference)
        return report
    recorded = replace(recorded, samples=recorded.samples if samples else None)
    return build_report(replace(recorded, place=str(folder.absolute())))


def read_recorded(folder: Path, reference: str | None = None) -> RecordedStudy:
    """Read the study from the folder's ledger; LedgerError without one.

    ``reference`` replaces the one that the study file names.
    """
    with open_ledger(folder) as ledger:
        study = read_study(ledger)
        return RecordedStudy(
            str(folder),
            replace(study, reference=reference or study.reference),
            ledger.study(),
            ledger.rows(),
            partial(read_samples, folder),
            GivenUpRecord(ledger).workloads(),
            WindowRecord(ledger).rows(),
            GivenUpRecord(ledger).time_limit(),
        )


def write_report(folder: Path) -> Report:
    """Write report.html, report.md and report.json into the folder; RecordError if that fails."""
    # Imported here: charts take half a second to load.
    from iostudy.report.render.chart_files import write_report_files

    report = read_report(folder)
    with explaining_failed_write(folder, shlex.join(["iostudy", "report", str(folder)])):
        write_report_files(report, folder)
    return report


@contextmanager
def explaining_failed_write(folder: Path, command: str) -> Iterator[None]:
    """RecordError if the report cannot be written; the command prints it."""
    try:
        yield
    except OSError as error:
        raise RecordError(
            "to write the report",
            found=error.strerror or str(error),
            where=str(folder),
            remedy=f"free space there; `{command}` prints it without writing",
        ) from error


def write_figures(report: Report, folder: Path, *, unsafe_folders: bool) -> None:
    """Write every figure as SVG and PNG into the folder; RecordError if that fails.

    UsageError without the extra `figures`; UnsafePathError for a folder that another user could
    redirect, see `make_output_folder`.
    """
    require_extra("figures", "write charts as SVG and PNG", "report.html shows them in a browser")
    from iostudy.report.render.chart_files import write_charts

    make_output_folder(folder, insist=unsafe_folders)
    try:
        paths = write_charts(report, folder)
    except OSError as error:
        raise RecordError(
            "to write figures into a folder",
            found=error.strerror or str(error),
            where=error.filename or str(folder),
            remedy="give a folder that can be created or written to, with free space",
        ) from error
    say(f"{len(paths)} figures are in {folder}")


def print_terminal(report: Report) -> None:
    """Print the whole report on stdout."""
    print_renderable(terminal.render(report))


def print_document(report: Document) -> None:
    """Print a document on stdout."""
    print_renderable(terminal.render_document(report))
