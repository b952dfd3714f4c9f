"""Removal of the files and folders of a workload."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from iostudy.own_folder import require_nothing_mounted
from iostudy.workloads.core_errors import io_error


def remove(path: Path) -> None:
    """Remove a file or a folder with all that is in it, following no link, if it is there.

    WorkloadError where that fails, RestoreError where something is mounted in the folder.
    """
    require_nothing_mounted(path)
    _remove(path)


def empty(directory: Path) -> None:
    """Remove all that is in a folder, if that is there, as `remove` does."""
    require_nothing_mounted(directory)
    try:
        entries = list(directory.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise io_error("to remove what a workload has made", error, directory) from error
    for path in entries:
        _remove(path)


def _remove(path: Path) -> None:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        # A file that another program removed in between counts as removed, unless a part is left.
        if not isinstance(error, FileNotFoundError) or os.path.lexists(path):
            raise io_error("to remove what a workload has made", error, path) from error
