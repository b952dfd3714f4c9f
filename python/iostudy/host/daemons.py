"""Hadoop's daemons and TuneD, running on this host.

Source: proc_pid_cmdline(5); the class names of Hadoop's main programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.process_limits import ResourceLimit, parse_limits
from iostudy.host.reader import Reader

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
