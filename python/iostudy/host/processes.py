"""Processes of this host: start times, resource limits, and the daemons of Hadoop and TuneD.

Source: proc_pid_cmdline(5); the class names of Hadoop's main programs.

Source: proc_pid_limits(5), getrlimit(2); fs/proc/base.c of the kernel for the columns, which are
the same from Linux 2.6.24 to 6.x.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.files import ROOT, Reader, read_attribute

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
    return tuple(_daemons(reader))


def _daemons(reader: Reader) -> Iterator[Daemon]:
    for folder in sorted(_processes(reader), key=lambda path: int(path.name)):
        role = parse_role(reader.text(folder / "cmdline") or "")
        if role:
            limits = parse_limits(reader.text(folder / "limits") or "")
            yield Daemon(int(folder.name), role, dict(limits))


def _processes(reader: Reader) -> list[Path]:
    return [path for path in (reader.root / "proc").glob("[0-9]*") if path.name.isdecimal()]
