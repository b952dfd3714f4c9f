"""Directories outside the target that a user names for the files of a workload."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from iostudy.errors import TargetError
from iostudy.workloads.option_types import TextList

_NAME_BYTES = 8


def absolute(path: Path) -> Path:
    """The path, if it is a whole one; ValueError for others."""
    if not path.is_absolute():
        raise ValueError(f"{path} is relative; give the whole path, such as /scratch/spill")
    return path


def require_distinct(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return them; ValueError if two are the same directory."""
    # Also by way of a link or .. it is the same: what is in it would be in one folder.
    if len({os.path.realpath(each) for each in paths}) < len(paths):
        raise ValueError("a directory occurs twice; name each once")
    return paths


Directories = Annotated[
    TextList[Annotated[Path, AfterValidator(absolute)]], AfterValidator(require_distinct)
]
"""Absolute paths, each once: ``[/disk1/scratch, /disk2/scratch]``."""


def own_folders(directories: Iterable[Path], place: Path, prefix: str) -> list[Path]:
    """A folder in each of them, of a name that a workload in no other ``place`` gives."""
    digest = hashlib.blake2b(os.fsencode(place), digest_size=_NAME_BYTES)
    return [directory / f"{prefix}{digest.hexdigest()}" for directory in directories]


def refuse_unfit(directories: Iterable[Path], purpose: str) -> None:
    """TargetError for the first that is no directory, or cannot be written to.

    ``purpose`` is such as "for the files of io".
    """
    for directory in directories:
        if not directory.is_dir():
            found = "it is not a directory" if directory.exists() else "it does not exist"
            remedy = "create it, or name another one"
        elif not os.access(directory, os.W_OK | os.X_OK, effective_ids=True):
            found = "it cannot be written to"
            remedy = "change its owner or mode, or name another one"
        else:
            continue
        raise TargetError(
            f"a directory {purpose}", found=found, where=str(directory), remedy=remedy
        )
