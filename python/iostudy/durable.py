"""Files that are whole and on disk, or not there."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def fsync_directory(directory: Path) -> None:
    """Make the names in it durable: those that were created, renamed and removed."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: bytes, like: Path | None = None) -> None:
    """Write into a file beside it that then takes its name: a reader sees old or new, never half.

    It gets mode and owner of the file ``like``, else it is for everyone to read. OSError as it
    comes; then ``path`` is as it was.
    """
    model = like.stat() if like else None
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp's own mode would keep it from everyone but its owner.
        beside.chmod(stat.S_IMODE(model.st_mode) if model else 0o644)
        if model:
            os.chown(beside, model.st_uid, model.st_gid)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    fsync_directory(path.parent)
