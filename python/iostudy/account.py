"""Users other than the one that runs iostudy: as whom root works with files and runs programs."""

from __future__ import annotations

import os
import pwd
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from iostudy import _native
from iostudy.errors import UsageError, WorkloadError
from iostudy.safe_path import ROOT_UID

_OWN_FOLDER = re.compile(r"(iostudy-work|scratch)-[0-9a-f]{16}")
_ENTERED_BY_GROUP = 0o710
_OVERFLOW_ID = 65534
"""The default of /proc/sys/kernel/overflowuid and overflowgid (proc(5))."""


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
            return cls._from_entry(pwd.getpwnam(name))
        except KeyError as error:
            raise UsageError(
                f"a user {name} to run commands as",
                found="this host has no such user",
                where="user",
                remedy="create it, or name a user of this host",
            ) from error

    @classmethod
    def of_owner(cls, uid: int) -> Account:
        """Return the account of a user number; without a name it has the group of that number."""
        try:
            return cls._from_entry(pwd.getpwuid(uid))
        except KeyError:
            return cls(f"user {uid}", uid, uid, (), "/")

    @classmethod
    def nobody(cls) -> Account:
        """Return the account of the kernel's user without rights, which every host has."""
        return cls("nobody", _OVERFLOW_ID, _OVERFLOW_ID, (), "/")

    @classmethod
    def _from_entry(cls, entry: pwd.struct_passwd) -> Account:
        groups = tuple(os.getgrouplist(entry.pw_name, entry.pw_gid))
        return cls(entry.pw_name, entry.pw_uid, entry.pw_gid, groups, entry.pw_dir)

    @property
    def environment(self) -> dict[str, str]:
        """Variables that a login sets."""
        return {"HOME": self.home, "USER": self.name, "LOGNAME": self.name}

    @property
    def process_user(self) -> dict[str, int | tuple[int, ...]]:
        """Return the arguments of Popen that run a program as this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": self.groups}

    def require_entry(self, directory: Path) -> None:
        """UsageError if the user cannot reach a directory."""
        for entry in _way_to(directory):
            if not self._may_enter(entry):
                raise UsageError(
                    f"a folder that {self.name} can enter, who runs the commands",
                    found=f"{entry} keeps {self.name} out",
                    where=str(directory),
                    remedy=f"name a target that every user may reach, or one of {self.name}'s",
                )

    def can_run(self, program: str) -> bool:
        """Whether root can run the program, found by the PATH, as this user."""
        path = shutil.which(program)
        # A user namespace may lack the user.
        with suppress(OSError), act_as(self):
            return path is not None and os.access(path, os.X_OK, effective_ids=True)
        return False

    def give(self, folder: Path) -> None:
        """Make the user the owner of an own folder of the study, which nobody else can enter.

        Own folders of the study above it let the user's group through.
        """
        try:
            for entry in _way_to(folder.parent):
                if _OWN_FOLDER.fullmatch(entry.name) and not self._may_enter(entry):
                    os.chown(entry, ROOT_UID, self.gid, follow_symlinks=False)
                    entry.chmod(_ENTERED_BY_GROUP)
            self.require_entry(folder.parent)
            os.chown(folder, self.uid, self.gid, follow_symlinks=False)
        except OSError as error:
            raise WorkloadError(
                f"to give a folder to {self.name}",
                found=error.strerror or str(error),
                where=str(folder),
                remedy="name a target of root's on a file system with owners of files",
            ) from error

    def _may_enter(self, directory: Path) -> bool:
        with act_as(self):
            return os.access(directory, os.X_OK, effective_ids=True)


def _way_to(directory: Path) -> tuple[Path, ...]:
    path = directory.resolve()
    return (*reversed(path.parents), path)


_OWN = Account("", os.geteuid(), os.getegid(), tuple(os.getgroups()), "")
"""The user of this process."""


@contextmanager
def act_as(account: Account | None) -> Iterator[None]:
    """Access files as that user in this thread and in those that it starts; None: as before.

    What the owner of a folder can redirect there then leads to nothing that this user could not
    do without root. A program that is executed has the rights of the process again.
    """
    if account is None:
        yield
        return
    groups = os.getgroups()
    earlier = _native.set_file_identity(account.uid, account.gid, account.groups)
    try:
        yield
    finally:
        _native.set_file_identity(*earlier, groups)


@contextmanager
def act_as_process() -> Iterator[None]:
    """Access files as the user of this process, within `act_as`: for a program to execute."""
    with act_as(_OWN if os.geteuid() == ROOT_UID else None):
        yield


def find_account(name: str | None) -> Account | None:
    """Return the account of a user if this process is root; others run programs as themselves."""
    return Account.find(name) if name and os.geteuid() == ROOT_UID else None


def is_replaced(name: str | None) -> bool:
    """Whether programs run as the user of iostudy in place of ``name``."""
    if name is None or os.geteuid() == ROOT_UID:
        return False
    return os.geteuid() not in [user.pw_uid for user in pwd.getpwall() if user.pw_name == name]
