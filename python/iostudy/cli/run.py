"""``iostudy run``: carry a study out and write its report."""

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

# Modules of studies are imported in functions: completion and help do without them.

RESULTS = Path("results")
VERDICT_EXIT = 1


class FailOn(StrEnum):
    """Verdicts that make ``run`` end with an exit code of their own."""

    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"


def run(
    study: StudyName,
    out: Annotated[
        Path | None,
        typer.Option(help="Output folder.", show_default="results/NAME-DATE-TIME"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the study in the output folder.")
    ] = False,
    yes: Yes = False,
    unsafe_folders: UnsafeFolders = False,
    seed: Seed = None,
    fail_on: Annotated[
        list[FailOn] | None,
        typer.Option(help=f"Exit with {VERDICT_EXIT} if any verdict is this one; may be repeated."),
    ] = None,
) -> None:
    """Carry a study out; write report.html, report.md, report.json and the ledger."""
    from iostudy.cli.consent import Consent
    from iostudy.study import library
    from iostudy.study.schema import load

    refuse_seed(seed, resume=resume)
    asked = load(library.find(study))
    folder = output_folder(asked.name, out, resume=resume)
    consent = Consent(destroy=yes, unsafe_folders=unsafe_folders)
    with told_if_stopped(["iostudy", "run", study, *consent.repeated()], folder):
        verdicts = _run(asked, folder, consent, resume=resume, seed=seed)
    if verdicts & {wanted.value for wanted in fail_on or ()}:
        raise typer.Exit(VERDICT_EXIT)


def _run(
    asked: Study, folder: Path, consent: Consent, *, resume: bool, seed: int | None
) -> set[str]:
    # Here and not above: statistics and charts take most of a second to load.
    from iostudy.cli.study_runner import carry_out, tell_again, whole
    from iostudy.execution.session import assign
    from iostudy.folders import require_safe_folder

    root = os.geteuid() == 0
    assignment = assign(asked, folder, root=root, resume=resume)
    final = whole(assignment, root=root)
    if final is not None:
        require_safe_folder(folder, insist=consent.unsafe_folders)
        return tell_again(final, folder)
    permission = make_ready(assignment.study, folder, consent)
    return carry_out(assignment, permission, root=root, seed=seed)


def make_ready(study: Study, folder: Path, consent: Consent) -> Permission:
    """Ask before anything is destroyed, make the output folder, and say what there is to know."""
    from iostudy.cli import nfs_suggestions
    from iostudy.cli.consent import ask_permission
    from iostudy.folders import make_output_folder, require_safe_folder
    from iostudy.host.mounts import read_mounts
    from iostudy.study.targets import DiskTarget

    require_safe_folder(folder, insist=consent.unsafe_folders)
    permission = ask_permission(study, consent)
    make_output_folder(folder, insist=consent.unsafe_folders)
    for note in (*study.notes, *nfs_suggestions.told(study, read_mounts())):
        say(f"note: {note}")
    if isinstance(study.target, DiskTarget):
        say(f"making {study.describe_target()} in {folder}")
    return permission


@contextmanager
def told_if_stopped(command: Sequence[str], folder: Path) -> Iterator[None]:
    """Where a signal ends what is done meanwhile: how to go on with that command."""
    try:
        yield
    except EndedBySignal:
        _tell_stopped(command, folder)
        raise


def _tell_stopped(command: Sequence[str], folder: Path) -> None:
    from iostudy.ledger.store import FILE_NAME

    if not (folder / FILE_NAME).exists():
        say("stopped before the first trial")
        return
    go_on = shlex.join([*command, "--resume", "--out", str(folder)])
    known = shlex.join(["iostudy", "report", str(folder)])
    say(f"stopped; finished trials are kept. See them with: {known}")
    say(f"Go on with: {go_on}")


def output_folder(name: str, asked: Path | None, *, resume: bool) -> Path:
    """The folder asked for; else a new one, or the newest of this study to be resumed."""
    if asked is not None:
        return asked
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
    """UsageError for a seed beside --resume."""
    if resume and seed is not None:
        raise UsageError(
            "to resume a study",
            found="a seed was given, and the one it began with is recorded",
            where="--seed",
            remedy="leave --seed out",
        )
