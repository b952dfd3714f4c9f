"""Places of a workload's files by name: the target, further disks of the study, or directories."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from iostudy.errors import TargetError
from iostudy.workloads.directories import absolute, require_distinct
from iostudy.workloads.option_types import TextList
from iostudy.workloads.workload import Place

TARGET = "target"
_DISK = re.compile(r"[A-Za-z0-9_-]+")


def _absolute_or_disk(name: str) -> str:
    if not _DISK.fullmatch(name):
        absolute(Path(name))
    return name


def _each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("a place occurs twice; name each once")
    require_distinct(NamedPlaces(names).directories)
    return names


PlaceNames = Annotated[
    TextList[Annotated[str, AfterValidator(_absolute_or_disk)]], AfterValidator(_each_once)
]
"""Absolute paths, names of further disks, and ``target``, each once: ``[target, disk2]``."""


@dataclass(frozen=True)
class NamedPlaces:
    """Places by name, in the order of the user."""

    names: tuple[str, ...]

    @property
    def directories(self) -> tuple[Path, ...]:
        """The user's directories outside of the study's disks."""
        return tuple(Path(name) for name in self.names if not _DISK.fullmatch(name))

    @property
    def disks(self) -> frozenset[str]:
        """Names of the further disks."""
        return frozenset(name for name in self.names if _DISK.fullmatch(name)) - {TARGET}

    def roots(self, place: Place) -> tuple[Path, ...]:
        """Return the directory of each, in order; TargetError if the study lacks a disk."""
        return tuple(_root(name, place) for name in self.names)


def _root(name: str, place: Place) -> Path:
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
