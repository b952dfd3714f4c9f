"""Safety checks of output folders, which the user can waive."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from iostudy import durable
from iostudy.account import Account
from iostudy.errors import UnsafePathError, UsageError
from iostudy.safe_path import ROOT_UID, find_weakness

UNSAFE_FOLDERS_OPTION = "--unsafe-folders"
"""The option that waives the checks."""
OUTPUT_LOCK = "ledger.lock"
FLEET_RECORD = "nodes.json"
FLEET_PAGE = "report.html"
FLEET_FILES = (OUTPUT_LOCK, FLEET_RECORD, FLEET_PAGE)
"""The files in a folder with those of nodes, whose names no node can have."""

_MODE = 0o755


def require_safe_folder(
    path: Path, *, insist: bool, shared: bool = False, trusted_uid: int = ROOT_UID
) -> None:
    """UnsafePathError if another user could redirect ``path``, unless the user insists.

    A missing folder is judged by the directory that it would be made in. ``shared`` and
    ``trusted_uid`` as of `safe_path.find_weakness`. UsageError if a part of the path cannot be
    examined.
    """
    if insist:
        return
    try:
        existing = path
        while not existing.is_dir() and existing != existing.parent:
            existing = existing.parent
        shared = shared or existing != path
        weakness = find_weakness(existing, shared=shared, trusted_uid=trusted_uid)
    except OSError as error:
        raise _unusable(path, error) from error
    if weakness:
        raise UnsafePathError(
            "a folder that only root and this user can change",
            found=f"{weakness}: another user could put a link in the place of a file",
            where=str(path),
            remedy="name another directory, or change its owner or mode (chmod go-w); "
            f"{UNSAFE_FOLDERS_OPTION} waives this check",
        )


def require_safe_directories(
    places: Iterable[Path], *, insist: bool, trusted_uid: int = ROOT_UID
) -> None:
    """Raise the error of `require_safe_folder` for a directory that a study works in.

    Names made by a study are unique, so a sticky directory is safe. Devices are no directories.
    """
    for place in dict.fromkeys(place for place in places if not place.is_block_device()):
        require_safe_folder(place, insist=insist, shared=True, trusted_uid=trusted_uid)


def require_safe_target(
    directories: Sequence[Path], *, insist: bool, may_be_foreign: bool
) -> Account | None:
    """Return the user as whom root works in the directories of a study; None if it does as root.

    What the owner of a directory redirects does no harm to work as that owner. UnsafePathError if
    a third user could redirect one of them, or if they belong to several users.
    """
    account = _find_owner(directories) if may_be_foreign and not insist else None
    trusted_uid = ROOT_UID if account is None else account.uid
    require_safe_directories(directories, insist=insist, trusted_uid=trusted_uid)
    return account


def _find_owner(directories: Iterable[Path]) -> Account | None:
    """Return the user to whom all directories belong, if this process is root and it is another."""
    if os.geteuid() != ROOT_UID:
        return None
    owners = {directory.stat().st_uid: directory for directory in directories if directory.is_dir()}
    if len(owners) > 1:
        named = ", ".join(f"{Account.of_owner(uid).name}: {path}" for uid, path in owners.items())
        raise UnsafePathError(
            "directories that all belong to one user",
            found=named,
            where="the directories of the study",
            remedy="name directories of one user, such as root's on the same file systems; "
            f"{UNSAFE_FOLDERS_OPTION} waives this check",
        )
    uid = next(iter(owners), ROOT_UID)
    return None if uid == ROOT_UID else Account.of_owner(uid)


def make_output_folder(path: Path, *, insist: bool) -> None:
    """Make a folder and its missing parents, which only this user can write to.

    UnsafePathError as `require_safe_folder`, UsageError if it cannot be made.
    """
    require_safe_folder(path, insist=insist)
    try:
        if insist:
            path.mkdir(_MODE, parents=True, exist_ok=True)
        else:
            durable.make_directory(path, _MODE)
    except OSError as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        "a folder to write into",
        found=error.strerror or str(error),
        where=str(path),
        remedy="name a folder that exists or can be made",
    )
