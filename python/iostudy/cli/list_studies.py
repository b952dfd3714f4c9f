"""``iostudy list`` and ``iostudy clean``: studies of a folder, and removal of failed ones."""

from __future__ import annotations

import json
import shutil
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from iostudy.cli.console import print_line, say
from iostudy.cli.failures import explain
from iostudy.cli.output_folder import RESULTS
from iostudy.errors import IostudyError, UsageError
from iostudy.folders import OUTPUT_LOCK
from iostudy.safe_path import read_regular, require_safe
from iostudy.units import MIB, require_time

if TYPE_CHECKING:
    from iostudy.ledger.store import Ledger

_REPORT = "report.json"
_LARGEST_REPORT = 64 * MIB
_QUESTION, _INDENT = 66, " " * 13
_LEDGER = "ledger."
_COMPLETE = "complete"
_OWN_NAMES = frozenset(("report.html", "report.md", _REPORT, "telemetry", "samples", "hadoop"))
"""Names that iostudy gives in an output folder."""

Folder = Annotated[Path, typer.Argument(metavar="[FOLDER]", help="A folder with output folders.")]


@dataclass(frozen=True)
class _ListedStudy:
    """A study in its output folder."""

    folder: Path
    started_at: float
    question: str
    answer: str
    complete: bool


def list_studies(folder: Folder = RESULTS) -> None:
    """List studies with their answers, the newest first."""
    studies = sorted(_find_studies(folder), key=lambda study: -study.started_at)
    for entry in studies:
        when = time.strftime("%d %b %H:%M", time.localtime(entry.started_at))
        print_line(f"{when} {textwrap.shorten(entry.question, _QUESTION, placeholder=' ...')}")
        for line in textwrap.wrap(entry.answer, _QUESTION, max_lines=2, placeholder=" ..."):
            print_line(_INDENT + line)
        state = "" if entry.complete else " (not complete)"
        print_line(f"{_INDENT}{entry.folder}{state}")
    if not studies:
        say(f"there is no study in {folder}")


def clean(
    folder: Folder = RESULTS,
    yes: Annotated[bool, typer.Option("--yes", help="Remove them without asking.")] = False,
) -> None:
    """Remove output folders without a finished trial.

    Folders with a finished trial, or with files that iostudy does not make, stay. So does an empty
    folder where no other one has a study: it may be a mount point, or somebody's.
    """
    from iostudy.ledger.store import FILE_NAME
    from iostudy.settings.transaction.locks import lock_output_folder

    folders = _subfolders(folder)
    require_safe(folder)
    has_studies = any((path / FILE_NAME).is_file() for path in folders)
    failed = [path for path in folders if has_studies and _is_disposable(path)]
    for path in failed:
        print_line(str(path))
    if not failed:
        say(f"there is no folder without a finished trial in {folder}")
        return
    if not yes and not typer.confirm("Remove what is listed?", err=True):
        raise UsageError(
            "consent to remove folders", found="none", where=str(folder), remedy="give --yes"
        )
    for path in failed:
        # One in which a study runs, or has now finished a trial, stays.
        with lock_output_folder(path):
            if all(entry.name == OUTPUT_LOCK for entry in path.iterdir()) or _is_disposable(path):
                shutil.rmtree(path)


def _find_studies(folder: Path) -> Iterator[_ListedStudy]:
    for path in _subfolders(folder):
        try:
            if any(path.iterdir()):
                yield _read_study(path)
        except IostudyError as error:
            say(f"{path}: {error.found}")
        except Exception as error:  # noqa: BLE001 - one folder must not hide the others
            say(f"{path}: {explain(error)}")


def _subfolders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError as error:
        raise UsageError(
            "a folder with studies",
            found=error.strerror or str(error),
            where=str(folder),
            remedy="name the folder that contains the output folders",
        ) from error


def _read_study(path: Path) -> _ListedStudy:
    """Read the answer of the report, or without one that of the ledger."""
    try:
        report: dict[str, Any] = json.loads(read_regular(path / _REPORT, _LARGEST_REPORT))
        return _ListedStudy(
            path,
            require_time(float(report["started_at"])),
            str(report["question"]),
            str(report["headline"]),
            report["state"] == _COMPLETE,
        )
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return _read_ledger(path)


def _read_ledger(path: Path) -> _ListedStudy:
    from iostudy.cli.report_output import read_report
    from iostudy.ledger.studies import open_ledger, recorded_study

    with open_ledger(path) as ledger:
        if not _has_results(ledger):
            row, answer = ledger.study(), "no finished trial: it runs, or was killed"
            question = recorded_study(row).question
            return _ListedStudy(path, row.started_at, question, answer, complete=False)
    report = read_report(path, samples=False)
    complete = report.state == _COMPLETE
    return _ListedStudy(path, report.started_at, report.question, report.headline, complete)


def _is_disposable(path: Path) -> bool:
    """Whether a folder is empty, or has a ledger of iostudy without a finished trial."""
    from iostudy.ledger.store import FILE_NAME
    from iostudy.ledger.studies import open_ledger

    names = {entry.name for entry in path.iterdir()}
    if not names:
        return True
    if FILE_NAME not in names or any(not n.startswith(_LEDGER) for n in names - _OWN_NAMES):
        return False
    try:
        with open_ledger(path) as ledger:
            return not _has_results(ledger)
    except IostudyError as error:
        say(f"{path} stays: {error.found}")
        return False


def _has_results(ledger: Ledger) -> bool:
    from iostudy.ledger.rows import TrialStatus
    from iostudy.ledger.windows import WindowRecord

    finished = any(row.status is TrialStatus.FINISHED for row in ledger.rows())
    return finished or bool(WindowRecord(ledger).rows().windows)
