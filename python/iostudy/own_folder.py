"""Folders that iostudy creates, recognised by their names.

Recovery removes a folder because a journal names it. A journal can be wrong, so only
a name that iostudy gives, and nobody else, is believed, and no other file system is entered.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from pathlib import Path

from iostudy.errors import RestoreError
from iostudy.host.mounts import read_mounts

WORK_PREFIX = "iostudy-work-"
"""Begins the names of folders that a study works in, here or in HDFS."""

_RANDOM_BYTES = 8
_RANDOM = re.compile(rf"[0-9a-f]{{{2 * _RANDOM_BYTES}}}")


def new_identity() -> str:
    """Return a random suffix for a name."""
    return secrets.token_hex(_RANDOM_BYTES)


def new_path(parent: Path, prefix: str, identity: str | None = None) -> Path:
    """Return a unique path below ``parent``, without creating it.

    With an ``identity``, from `new_identity`, the folders of several parents have one name.
    """
    return parent.resolve() / f"{prefix}{new_identity() if identity is None else identity}"


def parse_recorded(text: str, prefix: str) -> Path:
    """What `new_path` gave and a journal has kept; ValueError if that cannot be."""
    path = Path(text)
    random = path.name.removeprefix(prefix)
    named = path.name.startswith(prefix) and _RANDOM.fullmatch(random)
    if not named or not path.is_absolute() or ".." in path.parts:
        raise ValueError(f"not the path of a folder that iostudy makes: {text!r}")
    return path


def remove_folder(folder: Path) -> bool:
    """Remove a folder with its files, without following links; return whether it existed.

    RestoreError where something is mounted in it, for the files of another file system are not the
    study's, or where it cannot be removed.
    """
    try:
        if not os.path.lexists(folder):
            return False
        require_nothing_mounted(folder)
        shutil.rmtree(folder)
    except OSError as error:
        raise _not_removed(error.strerror or str(error), error.filename or folder) from error
    return True


def require_nothing_mounted(folder: Path) -> None:
    """RestoreError where something is mounted in a folder: its files are not the study's."""
    real = Path(os.path.realpath(folder.parent), folder.name)  # a link itself holds nothing
    for mount in read_mounts():
        if mount.point.is_relative_to(real):
            raise _not_removed(f"{mount.source} is mounted there", mount.point)


def _not_removed(found: str, where: Path) -> RestoreError:
    return RestoreError(
        "to remove a folder that iostudy has created",
        found=found,
        where=str(where),
        remedy="remove the cause, then run `iostudy restore`",
    )
