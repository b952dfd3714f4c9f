"""Work folder of a study below a directory of the user."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from iostudy import own_folder
from iostudy.account import Account, act_as
from iostudy.errors import TargetError
from iostudy.settings.change import ConflictPolicy, PrivateChange, Record
from iostudy.settings.filesystem_location import FilesystemLocation

PREFIX = own_folder.WORK_PREFIX
_MODE = 0o700


@dataclass(frozen=True)
class WorkFolder(PrivateChange):
    """A unique folder; undo removes it recursively.

    Root makes and removes that of an ``account`` as that user, who may redirect its path.
    """

    kind: ClassVar[str] = "work-folder"

    path: Path
    location: FilesystemLocation | None = None
    account: Account | None = None

    @classmethod
    def prepare(
        cls, parent: Path, *, disposable: bool = False, account: Account | None = None
    ) -> WorkFolder:
        """Prepare a folder below ``parent``; TargetError if that is not a writable directory.

        On a ``disposable`` file system, which the study creates and destroys, an absent folder
        counts as removed without a check of its file system.
        """
        if not parent.is_dir():
            raise TargetError(
                "a directory to work in",
                found="it is not a directory" if parent.exists() else "it does not exist",
                where=str(parent),
                remedy="create it, or name another target",
            )
        with act_as(account):
            usable = os.access(parent, os.W_OK | os.X_OK, effective_ids=True)
        if not usable:
            read_only = os.statvfs(parent).f_flag & os.ST_RDONLY
            raise _not_made(os.strerror(errno.EROFS if read_only else errno.EACCES), parent)
        path = own_folder.new_path(parent, PREFIX)
        return cls(path, None if disposable else FilesystemLocation.find(path), account)

    @classmethod
    def from_record(cls, record: Record) -> WorkFolder:
        """Rebuild from the journal; ValueError if the folder is not one of iostudy."""
        location = FilesystemLocation.from_record(record.get("place"))
        path = own_folder.parse_recorded(record["path"], PREFIX)
        owner = record.get("owner")
        return cls(path, location, None if owner is None else Account.of_owner(int(owner)))

    def record(self) -> Record:
        return {
            "path": str(self.path),
            "place": self.location.record() if self.location else None,
            "owner": self.account.uid if self.account else None,
        }

    def describe(self) -> str:
        return f"work folder {self.path}"

    def apply(self) -> None:
        try:
            with act_as(self.account):
                self.path.mkdir(mode=_MODE)
        except OSError as error:
            raise _not_made(error.strerror or str(error), self.path.parent) from error

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Remove it recursively; RestoreError if something is mounted in it.

        OutOfReachError if its file system is not mounted there.
        """
        with act_as(self.account):
            removed = own_folder.remove_folder(self.path)
        if removed:
            return (f"{self.describe()}: removed",)
        if self.location is not None:
            self.location.require(self.path, f"to remove the {self.describe()}")
        return ()


def _not_made(found: str, parent: Path) -> TargetError:
    return TargetError(
        "to make a folder to work in",
        found=found,
        where=str(parent),
        remedy="name a writable target with free space",
    )
