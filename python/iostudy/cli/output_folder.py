"""The study and the output folder that a command line names: creation, and how to resume."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from iostudy.cli.console import say
from iostudy.cli.signals import EndedBySignal
from iostudy.errors import BusyError, UsageError

if TYPE_CHECKING:
    from iostudy.cli.consent import Consent
    from iostudy.execution.session import StudySession
    from iostudy.node.conditions import Permission
    from iostudy.study.model import Study

# Functions import the modules of studies, which help and usage errors do not need.

T = TypeVar("T")

RESULTS = Path("results")
_TRY_EVERY_SECONDS = 1.0


@contextmanager
def prepare_output(session: StudySession, consent: Consent) -> Iterator[Permission]:
    """Ask for consent to destroy data, make the output folder, and print the study's notes.

    A folder that this makes is removed if the study does not start.
    """
    from iostudy.cli.consent import ask_permission
    from iostudy.folders import make_output_folder, require_safe_folder
    from iostudy.node.expected import require_programs

    study, folder = session.study, session.folder
    require_programs(study)
    require_safe_folder(folder, insist=consent.unsafe_folders)
    permission = ask_permission(study, consent, session.recorded)
    missing = [directory for directory in (folder, *folder.parents) if not directory.exists()]
    make_output_folder(folder, insist=consent.unsafe_folders)
    for note in study.notes:
        say(f"note: {note}")
    if study.target.made_levels and not study.target.predicts:
        say(f"creating {study.describe_target()} in {folder}")
    try:
        yield permission
    finally:
        for path in missing:
            with suppress(OSError):  # it holds a study
                path.rmdir()


@contextmanager
def print_resume_hint_on_signal(command: Sequence[str], folder: Path) -> Iterator[None]:
    """Print how to resume if a signal ends the block."""
    try:
        yield
    except EndedBySignal:
        if _is_output_folder(str(folder)):
            named = [] if str(folder) in command else ["--out", str(folder)]
            report = shlex.join(["iostudy", "report", str(folder)])
            say(f"stopped; finished trials are kept. Show them with: {report}")
            say(f"Resume with: {shlex.join([*command, '--resume', *named])}")
        else:
            say("stopped before the first trial")
        raise


_DIGITS = "[0-9]"


def find_output_folder(
    name: str, requested: Path | None, *, resume: bool, argument: str = ""
) -> Path:
    """Return the requested folder, else a new one, or the newest of the study to resume.

    With ``resume``, an ``argument`` that is an output folder requests that one.
    """
    if requested is not None:
        return requested
    if resume and argument and _is_output_folder(argument):
        return Path(argument)
    if not resume:
        return RESULTS / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    from iostudy.ledger.store import FILE_NAME

    earlier = sorted(RESULTS.glob(f"{name}-{_DIGITS * 8}-{_DIGITS * 6}/{FILE_NAME}"))
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


def wait_for_locks(seconds: float, folder: Path, start: Callable[[], T]) -> T:
    """Start a study; while another one keeps it from starting, try again for ``seconds``.

    A study that has begun a ledger in ``folder`` meanwhile is not started again.
    """
    from iostudy.ledger.store import FILE_NAME

    deadline, has_said = time.monotonic() + seconds, False
    has_ledger = (folder / FILE_NAME).exists()
    while True:
        try:
            return start()
        except BusyError as error:
            if time.monotonic() >= deadline or (folder / FILE_NAME).exists() is not has_ledger:
                raise
            if not has_said:
                say(f"waiting for {error.where}: {error.found}")
                has_said = True
            time.sleep(_TRY_EVERY_SECONDS)


def load_study(given: str) -> Study:
    """Return the study; an output folder holds the one that was run there."""
    from iostudy.study import library

    if not _is_output_folder(given):
        return library.load_study(given)
    from iostudy.ledger.studies import open_ledger
    from iostudy.study.parser import parse

    with open_ledger(Path(given)) as ledger:
        row = ledger.study()
    return parse(row.text, where=given, name=row.name)


def _is_output_folder(given: str) -> bool:
    """Whether a folder has a ledger."""
    if not Path(given).is_dir():
        return False
    from iostudy.ledger.store import FILE_NAME

    return (Path(given) / FILE_NAME).is_file()
