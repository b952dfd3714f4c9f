"""Where iostudy keeps what must outlive it, and files whose lock tells whether their owner lives.

A lock is flock(2)'s: the kernel gives it up with the last descriptor, also after SIGKILL.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from iostudy.errors import UsageError

STATE_DIR = "IOSTUDY_STATE_DIR"
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK


def state_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """``IOSTUDY_STATE_DIR``; else /var/lib/iostudy as root, else below ``XDG_STATE_HOME``.

    Source: XDG Base Directory Specification: ~/.local/state by default, relative paths are ignored.
    """
    if environ.get(STATE_DIR):
        return Path(environ[STATE_DIR]).absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/iostudy")
    home = Path(environ.get("XDG_STATE_HOME", ""))
    return (home if home.is_absolute() else Path.home() / ".local/state") / "iostudy"


def make_directory(directory: Path) -> None:
    """Make it, readable by its owner alone; UsageError if it cannot be made."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise unusable(directory, error) from error


def open_locked(path: Path, *, create: bool) -> int | None:
    """A descriptor of the file with its lock held; None while somebody else holds it.

    FileNotFoundError if it is missing and not to be created, UsageError if it cannot be. OSError if
    it is somebody else's: what a file there says is done, with this process's rights. Whoever
    holds the lock may remove the file, hence the second look: a lock on a removed file is worth
    nothing.
    """
    while True:
        descriptor = _create(path) if create else _open(path, _FLAGS)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        if _is_still(path, descriptor):
            return descriptor
        os.close(descriptor)


def read_all(descriptor: int) -> bytes:
    """The whole file, whatever the position of the descriptor."""
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0)


def _create(path: Path) -> int:
    try:
        return _open(path, _FLAGS | os.O_CREAT)
    except OSError as error:
        raise unusable(path.parent, error) from error


def _open(path: Path, flags: int) -> int:
    descriptor = os.open(path, flags, 0o600)
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
        return descriptor
    os.close(descriptor)
    what = "a file" if stat.S_ISREG(status.st_mode) else "no ordinary file,"
    raise OSError(errno.EPERM, f"{what} of user {status.st_uid}, not of user {os.geteuid()}")


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def unusable(directory: Path, error: OSError) -> UsageError:
    """That journals cannot be kept or looked for there."""
    return UsageError(
        "a folder for journals and locks, without which nothing is changed",
        found=error.strerror or str(error),
        where=str(directory),
        remedy=f"make it writable, or name another folder in {STATE_DIR}",
    )
