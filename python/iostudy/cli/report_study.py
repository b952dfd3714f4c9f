"""``iostudy report-study``: repeat a published field report by its ready-made studies."""

from __future__ import annotations

import math
import os
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostudy.cli.arguments import StudyOut, UnsafeFolders, Yes, parse_positive_time_option
from iostudy.cli.console import say
from iostudy.cli.output_folder import find_output_folder
from iostudy.cli.report import require_reference
from iostudy.cli.signals import EndedBySignal
from iostudy.cli.stale_changes import recover_stale_changes
from iostudy.errors import TRIAL_FAILED, IostudyError, LedgerError, RecordError, RestoreError

if TYPE_CHECKING:
    from iostudy.cli.consent import Consent
    from iostudy.report.documents.field_report import RepeatedItem
    from iostudy.report.values import Report
    from iostudy.study.model import Study
    from iostudy.study.reference import PublishedItem

# Functions import the modules of studies, which help and usage errors do not need.

PAGE = "field-report.md"


class Size(StrEnum):
    """Size of a field report's studies; ``full`` is as published."""

    SMOKE = "smoke"
    SMALL = "small"
    FULL = "full"

    @property
    def seconds(self) -> float:
        """The time of a report's studies in this size."""
        return {Size.SMOKE: 100.0, Size.SMALL: 1700.0, Size.FULL: math.inf}[self]


def report_study(
    name: Annotated[str, typer.Argument(metavar="REPORT", help="A field report: R1 to R5.")],
    size: Annotated[
        Size, typer.Option(help="smoke: 2 minutes; small: half an hour; full: as published.")
    ] = Size.SMALL,
    max_time: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Time of all studies together, such as 10min."),
    ] = None,
    out: StudyOut = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print what would run on this host, and end.")
    ] = False,
    yes: Yes = False,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Repeat a published field report by its studies.

    The output ends with its figures and your own. An item without what it needs on this host takes
    the next study, such as a simulation, and the plan says so. Each study has a folder of its own,
    and an equal part of the time that the studies before it have left: simulations run first, and
    studies with a cluster last. With the --out of an earlier run, finished studies are kept, and
    others resumed.
    """
    from iostudy.cli.consent import Consent
    from iostudy.cli.report_output import print_document
    from iostudy.durable import write_whole
    from iostudy.folders import make_output_folder
    from iostudy.report.documents.field_report import build_field_report
    from iostudy.report.render import markdown

    recover_stale_changes(must_succeed=not plan)
    name = require_reference(name, "the command line")
    seconds = size.seconds
    if max_time is not None:
        seconds = parse_positive_time_option("--max-time", max_time, "10min")
    folder = find_output_folder(f"{name}-{size}", out, resume=False)
    planned = plan_items(name, size, folder)
    for line in describe_items(planned, seconds):
        say(line)
    if plan:
        return
    make_output_folder(folder, insist=unsafe_folders)
    consent = Consent(destroy=yes, unsafe_folders=unsafe_folders)
    limit = ["--max-time", max_time] if max_time else []
    again = ["iostudy", "report-study", name, "--size", size, *limit, "--out", str(folder)]
    with _print_resume_hint([*again, *consent.resume_options()]):
        items = list(run_items(planned, name, folder, consent, seconds))
    document = build_field_report(name, items)
    write_whole(folder / PAGE, markdown.render_document(document).encode())
    print_document(document)
    say(f"the same: {folder / PAGE}; all figures: {folder}/*/report.html")
    if any(item.failed for item in items):
        raise typer.Exit(TRIAL_FAILED)


@contextmanager
def _print_resume_hint(command: Sequence[str]) -> Iterator[None]:
    try:
        yield
    except EndedBySignal:
        say(f"stopped; finished trials are kept. Resume with: {shlex.join(command)}")
        raise


@dataclass(frozen=True)
class PlannedItem:
    """An item with the study that repeats it on this host; None if there is none, with a reason.

    ``note`` is that reason, or says why it is not the first study of the item.
    """

    item: PublishedItem
    study: Study | None
    note: str

    @property
    def command(self) -> str:
        """The command that runs the study alone."""
        return f"iostudy {self.study.target.command} {self.study.name}" if self.study else ""

    def describe(self) -> str:
        """Describe what will run, on what, and how long it takes."""
        from iostudy.cli.mode_text import find_mode_text
        from iostudy.node.expected import with_expected_levels

        if self.study is None:
            return f"not on this machine, because {self.note}"
        expected = with_expected_levels(self.study)
        time = find_mode_text(expected).describe_time(expected)
        note = f" ({self.note})" if self.note else ""
        return f"{self.command} on {expected.describe_target()}: {time}{note}"


def describe_items(planned: Sequence[PlannedItem], seconds: float) -> Iterator[str]:
    """Describe each item in a line, then the time; a study that repeats several runs once."""
    from iostudy.units import format_seconds

    first: dict[str, int] = {}
    for number, entry in enumerate(planned, 1):
        text = entry.describe()
        same = first.setdefault(text, number)
        yield f"{number:2}. {entry.item.item}: {text if same == number else f'as {same}'}"
    if seconds < math.inf:
        yield (
            f"the studies share {format_seconds(seconds)} and begin no block after that; "
            "one that has not decided by then continues with the same --out"
        )


def plan_items(name: str, size: Size, folder: Path) -> list[PlannedItem]:
    """Choose for each item the first study that this user can run on this host."""
    from iostudy.study import reference

    return [_plan(item, size, folder) for item in reference.get(name).items]


def _plan(item: PublishedItem, size: Size, folder: Path) -> PlannedItem:
    from iostudy.plugins import find_missing
    from iostudy.study import library

    reasons = [item.why_not] if item.why_not else []
    for name in item.studies:
        if install := find_missing(name):
            reasons.append(f"{name} needs a plugin: {install}")
            continue
        sized = library.find_size(name, size)
        if sized is None:
            reasons.append(f"{name} takes longer than the size {size}")
            continue
        try:
            return PlannedItem(item, _require_study(sized, folder), "; ".join(reasons))
        except IostudyError as error:
            reasons.append(f"{sized} needs {error.wanted}: {error.found}")
    return PlannedItem(item, None, "; ".join(reasons))


def _require_study(name: str, folder: Path) -> Study:
    """Return the study as this user runs it on this host; IostudyError if that is impossible."""
    from iostudy.cli.check import check_host
    from iostudy.node.expected import with_expected_levels
    from iostudy.study import library
    from iostudy.study.privileges import adapt_to_user

    root = os.geteuid() == 0
    study = replace(library.load_ready_made(name), fallback=None)
    planned = with_expected_levels(adapt_to_user(study, root=root))
    check_host(planned, folder, root=root, unsafe_folders=True)
    return study


def run_items(
    planned: Sequence[PlannedItem], name: str, folder: Path, consent: Consent, seconds: float
) -> Iterator[RepeatedItem]:
    """Run every study once within the time; a study that fails does not end the others."""
    from iostudy.report.documents.field_report import RepeatedItem

    reports: dict[str, tuple[Report | None, str]] = {}
    studies = {entry.study.name: entry.study for entry in planned if entry.study}
    deadline = time.monotonic() + seconds
    # What needs the least time comes first, so that the rest has what it leaves.
    order = sorted(studies.values(), key=lambda study: (study.service, not study.target.predicts))
    for number, study in enumerate(order):
        say(f"{number + 1} of {len(order)}: {study.name}")
        share = (deadline - time.monotonic()) / (len(order) - number)
        reports[study.name] = _run_study(study, name, folder, consent, share)
    for entry in planned:
        if entry.study is None:
            yield RepeatedItem(entry.item, entry.command, entry.note)
            continue
        report, failure = reports[entry.study.name]
        reason = failure if report or failure else "no time was left"
        note = "; ".join(filter(None, (reason, entry.note)))
        yield RepeatedItem(entry.item, entry.command, note, report, failed=bool(failure))


def _run_study(
    study: Study, name: str, folder: Path, consent: Consent, seconds: float
) -> tuple[Report | None, str]:
    """Run or resume a study; return its report with the published figures, and its failure.

    Without time it runs nothing; there is a report of what an earlier run has in the folder.
    """
    from iostudy.cli.report_output import read_report
    from iostudy.cli.study_runner import run_and_write_report
    from iostudy.execution.schedule import TimeLimit
    from iostudy.ledger.store import FILE_NAME

    output, failure = folder / study.name, ""
    try:
        if seconds > 0:
            run_and_write_report(
                study,
                output,
                consent,
                resume=(output / FILE_NAME).exists(),
                seed=None,
                limit=TimeLimit.start(seconds),
            )
    except (RestoreError, RecordError):
        raise
    except IostudyError as error:
        say(str(error))
        failure = f"wanted {error.wanted}; found {error.found}"
    try:
        return (read_report(output, name) if (output / FILE_NAME).exists() else None), failure
    except LedgerError as error:
        say(str(error))
        return None, failure or f"wanted {error.wanted}; found {error.found}"
