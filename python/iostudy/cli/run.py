"""``iostudy run``: run a study and write its report."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostudy.cli.arguments import Seed, StudyName, UnsafeFolders, Yes
from iostudy.cli.output_folder import (
    find_output_folder,
    prepare_output,
    print_resume_hint_on_signal,
    refuse_seed,
)

if TYPE_CHECKING:
    from iostudy.cli.consent import Consent
    from iostudy.study.model import Study

# Functions import the modules of studies, which help and usage errors do not need.

VERDICT_EXIT = 1


class FailOn(StrEnum):
    """Verdicts for which ``run`` exits with VERDICT_EXIT."""

    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"


def run(
    study: StudyName,
    out: Annotated[
        Path | None,
        typer.Option(help="Output folder.", show_default="results/NAME-DATE-TIME"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the study in the output folder.")
    ] = False,
    yes: Yes = False,
    unsafe_folders: UnsafeFolders = False,
    seed: Seed = None,
    fail_on: Annotated[
        list[FailOn] | None,
        typer.Option(help=f"Exit with {VERDICT_EXIT} if any verdict is this one; repeatable."),
    ] = None,
) -> None:
    """Run a study; write its report and its ledger.

    The output folder gets report.html, report.md, report.json and the ledger.
    """
    from iostudy.cli.consent import Consent
    from iostudy.study import library
    from iostudy.study.schema import load

    refuse_seed(seed, resume=resume)
    loaded = load(library.find_study(study))
    folder = find_output_folder(loaded.name, out, resume=resume)
    consent = Consent(destroy=yes, unsafe_folders=unsafe_folders)
    with print_resume_hint_on_signal(["iostudy", "run", study, *consent.resume_options()], folder):
        verdicts = _run(loaded, folder, consent, resume=resume, seed=seed)
    if verdicts & {wanted.value for wanted in fail_on or ()}:
        raise typer.Exit(VERDICT_EXIT)


def _run(
    study: Study, folder: Path, consent: Consent, *, resume: bool, seed: int | None
) -> set[str]:
    # Imported here: statistics and charts take most of a second to load.
    from iostudy.cli.study_runner import find_completed, print_existing_report, run_study
    from iostudy.execution.session import prepare_session
    from iostudy.folders import require_safe_folder

    root = os.geteuid() == 0
    assignment = prepare_session(study, folder, root=root, resume=resume)
    final = find_completed(assignment, root=root)
    if final is not None:
        require_safe_folder(folder, insist=consent.unsafe_folders)
        return print_existing_report(final, folder)
    permission = prepare_output(assignment.study, folder, consent)
    return run_study(assignment, permission, root=root, seed=seed)
