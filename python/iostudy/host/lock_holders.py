"""Processes that hold a lock on a file, or have the file open.

Source: proc_locks(5), proc_pid_fd(5), proc_pid_cmdline(5).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.files import ROOT, decode

_SHOWN_CHARACTERS = 200


@dataclass(frozen=True)
class LockHolder:
    """A process and its command line, fit for one line of a message."""

    pid: int
    command: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command})"

    @classmethod
    def read(cls, pid: int, root: Path = ROOT) -> LockHolder:
        """The process with this number, of an unknown command if it cannot be read."""
        try:
            words = (root / "proc" / str(pid) / "cmdline").read_bytes().rstrip(b"\0")
        except OSError:
            words = b""
        return cls(pid, one_line(decode(words.replace(b"\0", b" "))) or "unknown command")


def one_line(text: str) -> str:
    """At most 200 characters of the text, with ``?`` for what could control a terminal."""
    visible = "".join(c if c.isprintable() else "?" for c in text[: _SHOWN_CHARACTERS + 1])
    return visible if len(visible) <= _SHOWN_CHARACTERS else f"{visible[:_SHOWN_CHARACTERS]}..."


def find_lock_holder(file: os.stat_result, root: Path = ROOT) -> LockHolder | None:
    """Return the process with a flock(2) on the file; None without one, or if it is hidden.

    The file is not opened: a process that may open it could also lock it.
    """
    number = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}"
    for line in (root / "proc/locks").read_text().splitlines():
        _, kind, *fields = line.split()
        if kind == "FLOCK" and fields[3] == number:
            return LockHolder.read(int(fields[2]), root)
    return None


def find_users(path: Path, root: Path = ROOT) -> tuple[LockHolder, ...]:
    """Return the visible processes that have the file open."""
    numbers = [entry.name for entry in (root / "proc").iterdir() if entry.name.isdecimal()]
    name = str(path.resolve())
    return tuple(
        LockHolder.read(int(n), root) for n in numbers if name in _opened(root / "proc" / n)
    )


def _opened(process: Path) -> Iterator[str]:
    """Return the names of its open files; without stat(2), which hangs on a lost NFS server."""
    # The process may end, or close a file, during the listing; others' are hidden.
    with suppress(OSError):
        for link in (process / "fd").iterdir():
            with suppress(FileNotFoundError):
                yield str(link.readlink())
