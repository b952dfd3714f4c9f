"""The folder of a trial, emptied of what a program has left there."""

from __future__ import annotations

import shutil
from pathlib import Path

from iostudy.workloads.native import io_error


def empty(directory: Path) -> None:
    """Remove all that is in a folder, following no link; WorkloadError where that fails."""
    try:
        for path in directory.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    except FileNotFoundError:
        if directory.exists():
            raise
    except OSError as error:
        raise io_error("to remove what a program has left", error, directory) from error
