"""The folder that a study works in, below a directory of the user's."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from iostudy import own_folder
from iostudy.errors import TargetError
from iostudy.settings.change import ConflictPolicy, Record
from iostudy.settings.mounted_place import MountedPlace

PREFIX = own_folder.WORK_PREFIX
_MODE = 0o700


@dataclass(frozen=True)
class WorkFolder:
    """A folder of a name that nobody else has, gone with all that is in it when it is undone."""

    kind: ClassVar[str] = "work-folder"

    path: Path
    place: MountedPlace | None = None

    @classmethod
    def prepare(cls, parent: Path, *, disposable: bool = False) -> WorkFolder:
        """One below ``parent``; TargetError if that is no directory, or not one to write to.

        On a ``disposable`` file system, which the study makes and destroys, an absent folder is
        removed wherever that file system is.
        """
        if not parent.is_dir():
            raise TargetError(
                "a directory to work in",
                found="that is no directory" if parent.exists() else "there is nothing there",
                where=str(parent),
                remedy="create it, or name another target",
            )
        if not os.access(parent, os.W_OK | os.X_OK, effective_ids=True):
            read_only = os.statvfs(parent).f_flag & os.ST_RDONLY
            raise _not_made(os.strerror(errno.EROFS if read_only else errno.EACCES), parent)
        path = own_folder.new(parent, PREFIX)
        return cls(path, None if disposable else MountedPlace.found(path))

    @classmethod
    def from_record(cls, record: Record) -> WorkFolder:
        """What the journal has kept; ValueError if that is no folder of iostudy's."""
        place = MountedPlace.from_record(record.get("place"))
        return cls(own_folder.recorded(record["path"], PREFIX), place)

    def record(self) -> Record:
        """The path, and its place inside the file system."""
        return {"path": str(self.path), "place": self.place.record() if self.place else None}

    def describe(self) -> str:
        """Where it is."""
        return f"work folder {self.path}"

    def apply(self) -> None:
        """Make it; TargetError where that cannot be."""
        try:
            self.path.mkdir(mode=_MODE)
        except OSError as error:
            raise _not_made(error.strerror or str(error), self.path.parent) from error

    def touches(self) -> tuple[str, ...]:
        """None: the folder is the study's own."""
        return ()

    def undo(self, foreign: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Remove it with its files; RestoreError where something is mounted in it.

        OutOfReachError where its file system is not mounted there.
        """
        del foreign
        if own_folder.remove(self.path):
            return (f"{self.describe()}: removed",)
        if self.place is not None:
            self.place.require(self.path, f"to remove the {self.describe()}")
        return ()


def _not_made(found: str, parent: Path) -> TargetError:
    return TargetError(
        "to make a folder to work in",
        found=found,
        where=str(parent),
        remedy="name a target that can be written to and has room",
    )
