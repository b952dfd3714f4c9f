"""Safety checks of output folders, which the user can waive."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from iostudy import durable
from iostudy.errors import UnsafePathError, UsageError
from iostudy.safe_path import find_weakness

UNSAFE_FOLDERS_OPTION = "--unsafe-folders"
"""The option that waives the checks."""
OUTPUT_LOCK = "ledger.lock"
FLEET_RECORD = "nodes.json"
FLEET_PAGE = "report.html"
FLEET_FILES = (OUTPUT_LOCK, FLEET_RECORD, FLEET_PAGE)
"""The files in a folder with those of nodes, whose names no node can have."""

_MODE = 0o755


def require_safe_folder(path: Path, *, insist: bool, shared: bool = False) -> None:
    """UnsafePathError if another user could redirect ``path``, unless the user insists.

    A missing folder is judged by the directory that it would be made in. ``shared`` as of
    `safe_path.find_weakness`. UsageError if a part of the path cannot be examined.
    """
    if insist:
        return
    try:
        existing = _nearest(path)
        weakness = find_weakness(existing, shared=shared or existing != path)
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


def require_safe_directories(places: Iterable[Path], *, insist: bool) -> None:
    """Raise the error of `require_safe_folder` for a directory that a study works in.

    Names made by a study are unique, so a sticky directory is safe. Devices are no directories.
    """
    for place in dict.fromkeys(place for place in places if not place.is_block_device()):
        require_safe_folder(place, insist=insist, shared=True)


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


def _nearest(path: Path) -> Path:
    """The path itself if it is a directory, else its nearest parent that is one."""
    while not path.is_dir() and path != path.parent:
        path = path.parent
    return path


def _unusable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        "a folder to write into",
        found=error.strerror or str(error),
        where=str(path),
        remedy="name a folder that exists or can be made",
    )
