"""Files that are whole, and on disk where that is asked for, or not there."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from iostudy.safe_path import require_safe

_FOR_EVERYONE = 0o644


def fsync_directory(directory: Path) -> None:
    """Make the names in it durable: those that were created, renamed and removed."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_directory(directory: Path, mode: int) -> None:
    """Make a directory and its missing parents durable, in a place that no other user can redirect.

    UnsafePathError if another user could; it also judges a directory that exists. OSError as it
    comes.
    """
    missing = [each for each in (directory, *directory.parents) if not each.exists()]
    existing = missing[-1].parent if missing else directory
    if not existing.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(existing))
    require_safe(existing, shared=bool(missing))
    for each in reversed(missing):
        try:
            each.mkdir(mode)
            each.chmod(mode)  # whatever the umask
        except FileExistsError:
            require_safe(each)
        fsync_directory(each.parent)
    require_safe(directory)


def write_whole(path: Path, content: bytes, like: Path | None = None) -> None:
    """Write into a file beside it that then takes its name: a reader sees old or new, never half.

    It gets mode and owner of the file ``like``, else it is for everyone to read. OSError as it
    comes; then ``path`` is as it was.
    """
    model = like.stat() if like else None
    with _replacing(path) as file:
        file.write(content)
        os.fchmod(file.fileno(), stat.S_IMODE(model.st_mode) if model else _FOR_EVERYONE)
        if model:
            os.fchown(file.fileno(), model.st_uid, model.st_gid)
        file.flush()
        os.fsync(file.fileno())
    fsync_directory(path.parent)


def show_whole(path: Path, content: bytes) -> None:
    """The same for everyone to read now, who will have another one soon: it is not brought to disk.

    Whoever measures a disk would otherwise make it write and flush its cache each time.
    """
    with _replacing(path) as file:
        file.write(content)
        os.fchmod(file.fileno(), _FOR_EVERYONE)


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file that takes the name at the end, or is gone.

    The folder may be another user's, who must not make root write elsewhere: mkstemp opens no file
    and no link that is there, and what is done to the file is done by its descriptor, as its name
    may be another's by then. Its mode is mkstemp's own, which keeps it from all but its owner.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
