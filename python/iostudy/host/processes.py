"""Processes of this host: start times, users, limits, locks, open files; Hadoop's and TuneD's.

Source: proc_pid_cmdline(5); the class names of Hadoop's main programs; proc_locks(5),
proc_pid_fd(5), proc_pid_status(5).

Source: proc_pid_limits(5), getrlimit(2); fs/proc/base.c of the kernel for the columns, which are
the same from Linux 2.6.24 to 6.x.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.files import ROOT, Reader, decode, read_attribute

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


def find_users(path: Path) -> tuple[LockHolder, ...]:
    """Return the visible processes that have the file open."""
    processes = [entry for entry in (ROOT / "proc").iterdir() if entry.name.isdecimal()]
    name = str(path.resolve())
    return tuple(LockHolder.read(int(p.name)) for p in processes if name in _opened(p))


def _opened(process: Path) -> Iterator[str]:
    """Return the names of its open files; without stat(2), which hangs on a lost NFS server."""
    # The process may end, or close a file, during the listing; others' are hidden.
    with suppress(OSError):
        for link in (process / "fd").iterdir():
            with suppress(FileNotFoundError):
                yield str(link.readlink())


_ENDED = ("Z", "X")


def read_start_ticks(pid: int) -> int | None:
    """Read its start in clock ticks since the boot: field 22 of proc_pid_stat(5).

    None if the process does not exist or is a zombie.
    """
    try:
        text = read_attribute(ROOT / "proc" / str(pid) / "stat")
    except ProcessLookupError:
        return None
    if text is None:
        return None
    # The name in brackets before may hold blanks and brackets.
    state, *fields = text.rpartition(")")[2].split()
    return None if state in _ENDED else int(fields[18])


def read_users(process: Path) -> frozenset[int]:
    """Read the real, effective, saved and file-system user of a process.

    ``process`` is its folder in /proc. Empty if it has ended, or is hidden.
    """
    try:
        lines = (process / "status").read_bytes().split(b"\n")
    except OSError:
        return frozenset()
    return frozenset(int(u) for line in lines if line.startswith(b"Uid:") for u in line.split()[1:])


def belongs_to(process: Path, users: Collection[int]) -> bool:
    """Return whether a process is of one of these users alone, and its program not set-user-ID.

    Every user can start a set-user-ID program, with arguments and an environment of their choice.
    Some, such as sudo, even give up the user who has started them.
    """
    ids = read_users(process)
    with suppress(OSError):  # it has ended
        is_set_user_id = (process / "exe").stat().st_mode & stat.S_ISUID
        return len(ids) == 1 and ids.issubset(users) and not is_set_user_id
    return False


OPEN_FILES = "Max open files"
UNLIMITED = "unlimited"

_LINE = re.compile(r"(Max \S+(?: \S+)*?) {2,}(\d+|unlimited) +(\d+|unlimited)(?: +\S+)? *")


@dataclass(frozen=True)
class ResourceLimit:
    """A soft and a hard limit; None is no limit at all."""

    soft: int | None
    hard: int | None

    def __str__(self) -> str:
        return f"soft {_format_bound(self.soft)}, hard {_format_bound(self.hard)}"


def parse_limits(text: str) -> Mapping[str, ResourceLimit]:
    """The limits by the names that the kernel gives them (``Max open files``)."""
    matches = (_LINE.fullmatch(line) for line in text.split("\n"))
    return {m[1]: ResourceLimit(_number(m[2]), _number(m[3])) for m in matches if m}


def _number(text: str) -> int | None:
    return None if text == UNLIMITED else int(text)


def _format_bound(value: int | None) -> str:
    return UNLIMITED if value is None else str(value)


_ROLES = {
    "org.apache.hadoop.hdfs.server.datanode.DataNode": "DataNode",
    "org.apache.hadoop.hdfs.server.datanode.SecureDataNodeStarter": "DataNode",
    "org.apache.hadoop.hdfs.server.namenode.NameNode": "NameNode",
}
TUNED = "tuned"


@dataclass(frozen=True)
class Daemon:
    """A running daemon and its limits; none where they could not be read."""

    pid: int
    role: str
    limits: dict[str, ResourceLimit]


def parse_role(cmdline: str) -> str | None:
    """Return the role of the process with these NUL-terminated arguments, None if unknown.

    Java's main class is a separate argument, whatever its options. TuneD is a script, so its
    name is the interpreter's or the script's.
    """
    arguments = cmdline.split("\0")
    program = Path(arguments[0]).name
    if program.startswith(("java", "jsvc")):
        return next((_ROLES[argument] for argument in arguments if argument in _ROLES), None)
    scripts = [a for a in arguments[1:] if a and not a.startswith("-")]
    named = scripts[0] if "python" in program and scripts else program
    return TUNED if Path(named).name == TUNED else None


def read_daemons(reader: Reader) -> tuple[Daemon, ...]:
    """The Hadoop daemons and TuneD that this process can see."""
    folders = (path for path in (reader.root / "proc").glob("[0-9]*") if path.name.isdecimal())
    daemons = []
    for folder in sorted(folders, key=lambda path: int(path.name)):
        if role := parse_role(reader.text(folder / "cmdline") or ""):
            limits = parse_limits(reader.text(folder / "limits") or "")
            daemons.append(Daemon(int(folder.name), role, dict(limits)))
    return tuple(daemons)
