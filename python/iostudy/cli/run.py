"""``iostudy run``: run a study and write its report."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostudy.cli.arguments import Seed, StudyName, UnsafeFolders, Yes
from iostudy.cli.console import say
from iostudy.cli.signals import EndedBySignal
from iostudy.errors import UsageError

if TYPE_CHECKING:
    from iostudy.cli.consent import Consent
    from iostudy.node.permission import Permission
    from iostudy.study.model import Study

# Functions import the modules of studies, which help and usage errors do not need.

RESULTS = Path("results")
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
    folder = output_folder(loaded.name, out, resume=resume)
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


def prepare_output(study: Study, folder: Path, consent: Consent) -> Permission:
    """Ask for consent to destroy data, make the output folder, and print the study's notes."""
    from iostudy.cli import nfs_suggestions
    from iostudy.cli.consent import ask_permission
    from iostudy.folders import make_output_folder, require_safe_folder
    from iostudy.host.mounts import read_mounts
    from iostudy.study.targets import DiskTarget

    require_safe_folder(folder, insist=consent.unsafe_folders)
    permission = ask_permission(study, consent)
    make_output_folder(folder, insist=consent.unsafe_folders)
    for note in (*study.notes, *nfs_suggestions.suggest_nfs(study, read_mounts())):
        say(f"note: {note}")
    if isinstance(study.target, DiskTarget):
        say(f"creating {study.describe_target()} in {folder}")
    return permission


@contextmanager
def print_resume_hint_on_signal(command: Sequence[str], folder: Path) -> Iterator[None]:
    """Print how to resume if a signal ends the block."""
    try:
        yield
    except EndedBySignal:
        _print_resume_hint(command, folder)
        raise


def _print_resume_hint(command: Sequence[str], folder: Path) -> None:
    from iostudy.ledger.store import FILE_NAME

    if not (folder / FILE_NAME).exists():
        say("stopped before the first trial")
        return
    resume = shlex.join([*command, "--resume", "--out", str(folder)])
    report = shlex.join(["iostudy", "report", str(folder)])
    say(f"stopped; finished trials are kept. Show them with: {report}")
    say(f"Resume with: {resume}")


def output_folder(name: str, requested: Path | None, *, resume: bool) -> Path:
    """Return the requested folder, else a new one, or the newest of the study to resume."""
    if requested is not None:
        return requested
    if not resume:
        return RESULTS / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    from iostudy.ledger.store import FILE_NAME

    earlier = sorted(RESULTS.glob(f"{name}-*/{FILE_NAME}"))
    if not earlier:
        raise UsageError(
            f"a study {name} to resume",
            found=f"there is none in {RESULTS}/",
            where=str(RESULTS),
            remedy="name its output folder with --out, or run it without --resume",
        )
    return earlier[-1].parent


def refuse_seed(seed: int | None, *, resume: bool) -> None:
    """Raise UsageError for --seed with --resume."""
    if resume and seed is not None:
        raise UsageError(
            "to resume a study",
            found="a seed, but the ledger has the one of the study",
            where="--seed",
            remedy="omit --seed",
        )
