"""Directories outside the target that a user names for the files of a workload."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from iostudy.errors import TargetError
from iostudy.workloads.core_errors import io_error
from iostudy.workloads.option_types import TextList
from iostudy.workloads.workload import Place

_NAME_BYTES = 8


def absolute(path: Path) -> Path:
    """The path, if it is a whole one; ValueError for others."""
    if not path.is_absolute():
        raise ValueError(f"{path} is relative; give the whole path, such as /scratch/spill")
    return path


def require_distinct(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return them; ValueError if two are the same directory."""
    # Also by way of a link or .. it is the same: what is in it would be in one folder.
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise ValueError("a directory occurs twice; name each once")
    return paths


def own_folders(directories: Iterable[Path], place: Place, prefix: str) -> list[Path]:
    """A folder in each of them, of a name that a workload in no other ``place`` gives."""
    digest = hashlib.blake2b(os.fsencode(place.directory), digest_size=_NAME_BYTES)
    name = f"{prefix}{digest.hexdigest()}"
    return [place.folder_in(directory) / name for directory in directories]


def make_folder(folder: Path) -> None:
    """Make a folder that is not there; WorkloadError for another program's, which is never used."""
    try:
        folder.mkdir()
    except OSError as error:
        raise io_error("to make a folder for the files", error, folder) from error


def refuse_unfit(directories: Iterable[Path], purpose: str) -> None:
    """TargetError for the first that is no directory, or cannot be written to.

    ``purpose`` is such as "for the files of io".
    """
    for directory in directories:
        if not directory.is_dir():
            fault = "it is not a directory" if directory.exists() else "it does not exist"
            remedy = "create it, or name another one"
        elif not os.access(directory, os.W_OK | os.X_OK, effective_ids=True):
            fault = "it cannot be written to"
            remedy = "change its owner or mode, or name another one"
        else:
            continue
        raise TargetError(
            f"a directory {purpose}", found=fault, where=str(directory), remedy=remedy
        )


TARGET = "target"
_DISK = re.compile(r"[A-Za-z0-9_-]+")


def _absolute_or_disk(name: str) -> str:
    if not _DISK.fullmatch(name):
        absolute(Path(name))
    return name


def _each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("a place occurs twice; name each once")
    require_distinct(place_directories(names))
    return names


PlaceNames = Annotated[
    TextList[Annotated[str, AfterValidator(_absolute_or_disk)]], AfterValidator(_each_once)
]
"""Absolute paths, names of further disks, and ``target``, each once: ``[target, disk2]``."""


def place_directories(names: Iterable[str]) -> tuple[Path, ...]:
    """Return the user's directories outside of the study's disks among these places."""
    return tuple(Path(name) for name in names if not _DISK.fullmatch(name))


def place_disks(names: Iterable[str]) -> frozenset[str]:
    """Return the names of the further disks among these places."""
    return frozenset(name for name in names if _DISK.fullmatch(name)) - {TARGET}


def find_place(name: str, place: Place) -> Path:
    """Return the directory of a place; TargetError if it is a disk that the study lacks."""
    if name == TARGET:
        return place.directory
    return find_disk(name, place) if _DISK.fullmatch(name) else Path(name)


def find_disk(name: str, place: Place) -> Path:
    """Return the mount point of a further disk; TargetError if the study lacks it."""
    if name not in place.disks:
        raise TargetError(
            f"a further disk {name}",
            found=f"there are {', '.join(place.disks)}" if place.disks else "there is none",
            where=str(place.directory),
            remedy="a study makes one: target: {loopback: {size: 1GiB, beside: "
            f"{{{name}: ext4}}}}}}; or give the absolute path of a directory",
        )
    return place.disks[name]
