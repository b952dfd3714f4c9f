"""State directory of iostudy: files whose lock shows that their owner is alive, and reports.

A lock is flock(2)'s: the kernel gives it up with the last descriptor, also after SIGKILL. Watchdogs
leave reports, which the next command prints.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from iostudy import durable
from iostudy.errors import UsageError
from iostudy.safe_path import open_regular, read_at_most, read_regular, require_safe
from iostudy.units import MIB

STATE_DIR = "IOSTUDY_STATE_DIR"


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
    """Make it, readable by its owner alone; UsageError if it cannot be made or is not safe."""
    try:
        durable.make_directory(directory, 0o700)
    except OSError as error:
        raise unusable(directory, error) from error


def open_locked(path: Path, *, create: bool) -> int | None:
    """A descriptor of the file with its lock held; None while another process holds it.

    FileNotFoundError if it is missing and not to be created, UsageError if it cannot be. OSError
    if it is unsafe, as `open_regular` says: this process does what the file says. Whoever holds the
    lock may remove the file, hence the second look: a lock on a removed file is worth nothing.
    """
    while True:
        descriptor = _create(path) if create else open_regular(path, os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        if is_still(path, descriptor):
            return descriptor
        os.close(descriptor)


def read_all(descriptor: int, limit_bytes: int) -> bytes:
    """The whole file, whatever the position of the descriptor; OSError beyond the limit."""
    size = os.fstat(descriptor).st_size
    if size > limit_bytes:
        fault = f"{size} bytes, more than the limit of {limit_bytes}"
        raise OSError(errno.EFBIG, fault)
    return read_at_most(descriptor, size)


def _create(path: Path) -> int:
    try:
        return open_regular(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise unusable(path.parent, error) from error


def is_still(path: Path, descriptor: int) -> bool:
    """Whether the open file is still the one of that name, which its last holder may remove."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
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


REPORT_SUFFIX = ".watchdog"
_MAX_BYTES = 16 * MIB


def write_report(directory: Path, lines: Sequence[str]) -> None:
    """Keep the lines for the next command; OSError as it comes."""
    text = "".join(f"{line}\n" for line in lines)
    path = directory / f"{time.time_ns():020d}{REPORT_SUFFIX}"
    durable.write_whole(path, text.encode(errors="surrogateescape"))


def take_reports(directory: Path) -> tuple[str, ...]:
    """Return the lines of all reports, oldest first, and remove the reports.

    UsageError if the directory is unreadable, UnsafePathError if another user could write to it.
    """
    lines: list[str] = []
    try:
        require_safe(directory)
        paths = sorted(path for path in directory.iterdir() if path.suffix == REPORT_SUFFIX)
        for path in paths:
            lines += read_regular(path, _MAX_BYTES).decode(errors="replace").splitlines()
            path.unlink(missing_ok=True)
    except FileNotFoundError:  # no state directory, or another command printed the report
        return tuple(lines)
    except OSError as error:
        raise unusable(directory, error) from error
    return tuple(lines)
