"""Atomic file replacement, durable where requested."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from iostudy.safe_path import open_directory, require_safe

_WORLD_READABLE = 0o644
_OWNER_ONLY = 0o600
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_UNNAMED = os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC
_RANDOM_BYTES = 8


def fsync_directory(directory: Path) -> None:
    """Make the names in it durable: those that were created, renamed and removed."""
    with open_directory(directory, follow=True) as descriptor:
        os.fsync(descriptor)


def make_directory(directory: Path, mode: int) -> None:
    """Make a directory and its missing parents durable, in a place that no other user can redirect.

    UnsafePathError if another user could; it also judges a directory that exists. OSError as it
    comes.
    """
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    existing = missing[-1].parent if missing else directory
    if not existing.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(existing))
    require_safe(existing, shared=bool(missing))
    for folder in reversed(missing):
        try:
            folder.mkdir(mode)
            folder.chmod(mode)  # whatever the umask
        except FileExistsError:
            require_safe(folder)
        fsync_directory(folder.parent)
    require_safe(directory)


def write_whole(
    path: Path, content: bytes, like: Path | None = None, *, follow_parent: bool = True
) -> None:
    """Replace a file atomically and durably: a reader sees the old or the new content.

    The file gets mode, owner and extended attributes (SELinux label, access control list) of the
    file ``like``, else it is readable by everyone. Without ``follow_parent`` its directory must not
    be a link. OSError as it comes; then ``path`` is as it was.
    """
    with open_directory(path.parent, follow=follow_parent) as directory:
        replace_in(directory, path.name, content, like)


def replace_in(
    directory: int, name: str, content: bytes, like: Path | int | None, temporary: str = ""
) -> None:
    """Replace a file of an open directory as `write_whole` does; ``like`` may be a descriptor.

    A caller who removes what a crash leaves gives the temporary name.
    """
    with _open_replacement(directory, name, temporary=temporary) as file:
        file.write(content)
        _make_durable(file, like)
    os.fsync(directory)


@contextmanager
def open_new(path: Path) -> Iterator[BinaryIO]:
    """Open a file for content of any size, which gets the name ``path`` when it is complete.

    An exception in the context, and the end of this process, leave nothing. FileExistsError at the
    end if the name is taken then.
    """
    with open_directory(path.parent, follow=True) as directory:
        with _open_replacement(directory, path.name, replace=False) as file:
            yield file
            _make_durable(file, None)
        os.fsync(directory)


def replace_whole(path: Path, content: bytes) -> None:
    """Replace a file atomically but without fsync, for content that is soon replaced again.

    An fsync would make a measured disk write and flush its cache each time.
    """
    with (
        open_directory(path.parent, follow=True) as directory,
        _open_replacement(directory, path.name) as file,
    ):
        file.write(content)
        os.fchmod(file.fileno(), _WORLD_READABLE)


def _make_durable(file: BinaryIO, like: Path | int | None) -> None:
    if like is None:
        os.fchmod(file.fileno(), _WORLD_READABLE)
    else:
        _copy_metadata(like, file.fileno())
    file.flush()
    os.fsync(file.fileno())


def _copy_metadata(model: Path | int, descriptor: int) -> None:
    status = os.stat(model)  # noqa: PTH116 - of a path, or of a descriptor
    os.fchown(descriptor, status.st_uid, status.st_gid)  # clears set-user-ID: before the mode
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    for attribute in _list_attributes(model):
        os.setxattr(descriptor, attribute, os.getxattr(model, attribute))


def _list_attributes(model: Path | int) -> list[str]:
    try:
        return os.listxattr(model)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            return []
        raise


@contextmanager
def _open_replacement(
    directory: int, name: str, *, replace: bool = True, temporary: str = ""
) -> Iterator[BinaryIO]:
    """Open a file without a name, which takes the name at the end, or vanishes with this process.

    The folder may be another user's, who must not make root write elsewhere. So no existing file or
    link is opened, and all names are in the one directory that was opened. A file that replaces
    another has a name of its own between two system calls. Without ``replace``, FileExistsError if
    the name is taken.
    """
    temporary = temporary or f".{name}.{secrets.token_hex(_RANDOM_BYTES)}"
    descriptor, is_named = _open_new(directory, temporary)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            source = temporary if is_named else f"/proc/self/fd/{file.fileno()}"
            if not replace:
                os.link(source, name, src_dir_fd=directory, dst_dir_fd=directory)
                return
            if not is_named:
                os.link(source, temporary, dst_dir_fd=directory)
            is_named = True
            os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
            is_named = False
    finally:
        if is_named:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=directory)


def _open_new(directory: int, name: str) -> tuple[int, bool]:
    """Return a new file, and whether it has the name: some file systems have no files without one.

    Source: open(2), O_TMPFILE. A kernel or file system without it fails with one of three errors.
    """
    try:
        return os.open(".", _UNNAMED, _OWNER_ONLY, dir_fd=directory), False
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT):
            raise
    return os.open(name, _NEW, _OWNER_ONLY, dir_fd=directory), True
