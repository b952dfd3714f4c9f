"""Study that a command line names: a file, a ready-made study, stdin, or an output folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iostudy.study.model import Study

# Functions import the modules of studies, which help and usage errors do not need.


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


def find_own_folder(given: str, *, resume: bool) -> Path | None:
    """Return the output folder that a command line names as its study, for --resume."""
    return Path(given) if resume and _is_output_folder(given) else None


def _is_output_folder(given: str) -> bool:
    """Whether a folder has a ledger."""
    if not Path(given).is_dir():
        return False
    from iostudy.ledger.store import FILE_NAME

    return (Path(given) / FILE_NAME).is_file()
