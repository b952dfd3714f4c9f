"""Account of another user that a program runs as, if iostudy runs as root."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import UsageError, WorkloadError
from iostudy.safe_path import ROOT_UID


@dataclass(frozen=True)
class Account:
    """A user with the groups that a login would have."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str

    @classmethod
    def find(cls, name: str) -> Account:
        """Return the account of a user; UsageError if this host has none of that name."""
        try:
            found = pwd.getpwnam(name)
        except KeyError as error:
            raise UsageError(
                f"a user {name} to run commands as",
                found="this host has no such user",
                where="user",
                remedy="create it, or name a user of this host",
            ) from error
        groups = tuple(os.getgrouplist(name, found.pw_gid))
        return cls(name, found.pw_uid, found.pw_gid, groups, found.pw_dir)

    @property
    def environment(self) -> dict[str, str]:
        """Variables that a login sets."""
        return {"HOME": self.home, "USER": self.name, "LOGNAME": self.name}

    def give(self, folder: Path) -> None:
        """Make the user the owner of an own folder of the study, which nobody else can enter."""
        try:
            os.chown(folder, self.uid, self.gid, follow_symlinks=False)
        except OSError as error:
            raise WorkloadError(
                f"to give a folder to {self.name}",
                found=error.strerror or str(error),
                where=str(folder),
                remedy="name a target on a file system with owners of files",
            ) from error


def find_account(name: str | None) -> Account | None:
    """Return the account of a user if this process is root; others run programs as themselves."""
    return Account.find(name) if name and os.geteuid() == ROOT_UID else None


def is_replaced(name: str | None) -> bool:
    """Whether programs run as the user of iostudy in place of ``name``."""
    if name is None or os.geteuid() == ROOT_UID:
        return False
    return os.geteuid() not in [own.pw_uid for own in pwd.getpwall() if own.pw_name == name]
