"""``iostudy selftest``: check of the method on this machine with known slow-downs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from iostudy.cli.arguments import Json, Seed, UnsafeFolders
from iostudy.cli.consent import Consent
from iostudy.cli.console import print_json, print_line, print_table, say
from iostudy.cli.output_folder import find_output_folder, print_resume_hint_on_signal, refuse_seed
from iostudy.study import library
from iostudy.study.model import Study
from iostudy.study.parser import load, parse
from iostudy.study.source import read, write

if TYPE_CHECKING:  # statistics take most of a second to load
    from iostudy.report.documents.selftest import ExpectationOutcome, SelftestReport

NAME = "selftest"
FAILED_EXIT = 1
UNDECIDED_EXIT = 5


def selftest(
    target: Annotated[
        Path, typer.Option(metavar="DIR", help="Directory of the 64 MiB scratch file.")
    ] = Path(),
    out: Annotated[
        Path | None,
        typer.Option(help="Output folder.", show_default="results/selftest-DATE-TIME"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the selftest in the output folder.")
    ] = False,
    unsafe_folders: UnsafeFolders = False,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Check on this machine that known slow-downs are detected.

    The study compares direct writes to a scratch file with identical writes and with writes that
    are 5 % and 10 % slower. It takes one to six minutes, depending on the noise, and needs no root.
    The exit code is 0 if every verdict is right, 5 if the noise leaves one undecided, 1 if one is
    wrong.
    """
    refuse_seed(seed, resume=resume)
    study, folder = study_on(target), find_output_folder(NAME, out, resume=resume)
    consent = Consent(unsafe_folders=unsafe_folders)
    command = ["iostudy", NAME, "--target", str(target), *consent.resume_options()]
    with print_resume_hint_on_signal(command, folder):
        result = _run_selftest(study, folder, consent, resume=resume, seed=seed)
    _print_selftest(result, json=json)
    say(f"report: {folder / 'report.html'}")
    if code := _exit_code(result.outcome):
        raise typer.Exit(code)


def study_on(target: Path) -> Study:
    """Return the ready-made study with that directory as its target."""
    path = library.FOLDER / f"{NAME}.yaml"
    values = read(load(path).text, str(path)).values
    text = write({**values, "target": str(target)})
    return parse(text, where=str(path), name=NAME)


def _run_selftest(
    study: Study, folder: Path, consent: Consent, *, resume: bool, seed: int | None
) -> SelftestReport:
    # Here and not above: statistics and charts take most of a second to load.
    from iostudy.cli.study_runner import run_and_write_report
    from iostudy.report.documents.selftest import build_selftest

    final = run_and_write_report(study, folder, consent, resume=resume, seed=seed)
    return build_selftest(study, final, str(folder))


def _print_selftest(result: SelftestReport, *, json: bool) -> None:
    from iostudy.report.documents.selftest import build_selftest_table

    if json:
        print_json(result.model_dump(mode="json"))
        return
    shown = build_selftest_table(result)
    print_table(shown.heads, shown.rows)
    print_line()
    print_line(result.sentence)


def _exit_code(outcome: ExpectationOutcome) -> int:
    from iostudy.report.documents.selftest import ExpectationOutcome

    match outcome:
        case ExpectationOutcome.PASSED:
            return 0
        case ExpectationOutcome.UNDECIDED:
            return UNDECIDED_EXIT
        case ExpectationOutcome.FAILED:
            return FAILED_EXIT
        case unreachable:
            assert_never(unreachable)
