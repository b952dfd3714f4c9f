"""``iostudy selftest``: whether iostudy finds, on this machine, what is known to be there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from iostudy.cli.arguments import Json, Seed, UnsafeFolders
from iostudy.cli.consent import Consent
from iostudy.cli.console import print_json, print_line, print_table, say
from iostudy.cli.run import output_folder, refuse_seed, told_if_stopped
from iostudy.study import library
from iostudy.study.model import Study
from iostudy.study.schema import load, parse
from iostudy.study.source import read, write

if TYPE_CHECKING:  # statistics take most of a second to load
    from iostudy.report.values.selftest import Outcome, SelftestTold

NAME = "selftest"
FAILED_EXIT = 1
UNDECIDED_EXIT = 5


def selftest(
    target: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the scratch file of 64 MiB lies.")
    ] = Path(),
    out: Annotated[
        Path | None,
        typer.Option(help="Output folder.", show_default="results/selftest-DATE-TIME"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the selftest in the output folder.")
    ] = False,
    unsafe_folders: UnsafeFolders = False,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Prove on this machine that a known slow-down is found, and one that is not there is not.

    Direct writes to a scratch file, once more the same, 5 % and 10 % slower: a minute where runs
    are much alike, six at most, no root. It exits with 0 if all was found, 5 where the noise leaves
    it undecided, 1 if it failed.
    """
    refuse_seed(seed, resume=resume)
    study, folder = study_on(target), output_folder(NAME, out, resume=resume)
    consent = Consent(unsafe_folders=unsafe_folders)
    command = ["iostudy", NAME, "--target", str(target), *consent.repeated()]
    with told_if_stopped(command, folder):
        told = _told(study, folder, consent, resume=resume, seed=seed)
    _print(told, json=json)
    say(f"its report: {folder / 'report.html'}")
    if code := _exit_code(told.outcome):
        raise typer.Exit(code)


def study_on(target: Path) -> Study:
    """The ready-made study, on that directory."""
    path = library.FOLDER / f"{NAME}.yaml"
    values = read(load(path).text, str(path)).values
    text = write({**values, "target": str(target)})
    return parse(text, where=str(path), name=NAME)


def _told(
    study: Study, folder: Path, consent: Consent, *, resume: bool, seed: int | None
) -> SelftestTold:
    # Here and not above: statistics and charts take most of a second to load.
    from iostudy.cli.study_runner import reported
    from iostudy.report import selftest

    final = reported(study, folder, consent, resume=resume, seed=seed)
    return selftest.selftest(study, final, str(folder))


def _print(told: SelftestTold, *, json: bool) -> None:
    from iostudy.report.selftest import table

    if json:
        print_json(told.model_dump(mode="json"))
        return
    shown = table(told)
    print_table(shown.heads, shown.rows)
    print_line()
    print_line(told.told)


def _exit_code(outcome: Outcome) -> int:
    from iostudy.report.values.selftest import Outcome

    match outcome:
        case Outcome.PASSED:
            return 0
        case Outcome.UNDECIDED:
            return UNDECIDED_EXIT
        case Outcome.FAILED:
            return FAILED_EXIT
        case unreachable:
            assert_never(unreachable)
