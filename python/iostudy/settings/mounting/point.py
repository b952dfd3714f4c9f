"""Mount points that iostudy uses: empty directories of the user without a mount."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from iostudy.errors import RestoreError, TargetError
from iostudy.host.mounts import Mount, find_mounts_at
from iostudy.safe_path import open_directory
from iostudy.settings.mounting import calls


def require_empty(point: Path) -> Path:
    """Return the path without links; TargetError unless it is an empty, unmounted directory."""
    try:
        real = point.resolve(strict=True)
        found = "files are in it" if any(real.iterdir()) else ""
    except OSError as error:
        found = error.strerror or str(error)
    else:
        if find_mounts_at(real):
            found = "it is a mount point"
    if found:
        raise TargetError(
            "an empty directory to mount on",
            found=found,
            where=str(point),
            remedy="make a new directory; `findmnt` lists the mounts",
        )
    return real


def unmount(point: Path, source: str, is_own: Callable[[Mount], bool]) -> bool:
    """Unmount the own mounts of a point, also while files are open; return whether there was one.

    RestoreError if another mount lies over them, or the kernel refuses.
    """
    was_there = False
    while any(map(is_own, found := find_mounts_at(point))):
        was_there = True
        try:
            if not is_own(found[-1]):
                raise OSError("another mount lies over it")
            with open_directory(point.parent) as parent:
                calls.unmount(parent, point.name, lazy=True)
        except OSError as error:
            raise RestoreError(
                f"to unmount {source}",
                found=error.strerror or str(error),
                where=str(point),
                remedy="see `findmnt`; `iostudy restore` tries again",
            ) from error
    return was_there
