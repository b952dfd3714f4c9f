"""Configures and starts daemons of a local cluster, and reads the logs of dead ones."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from iostudy.errors import ClusterError
from iostudy_hadoop import processes
from iostudy_hadoop.conf import folder
from iostudy_hadoop.conf.configuration import HadoopConfiguration
from iostudy_hadoop.local import confinement, defaults
from iostudy_hadoop.local.layout import NAMENODE, ClusterDaemon, ClusterLayout
from iostudy_hadoop.processes import DaemonProcess

_FORMAT_LIMIT_SECONDS = 60.0
_TAIL_BYTES = 1 << 16
_LINES = 4
_LINE_CHARACTERS = 300
_ERROR = re.compile(r"\b(ERROR|FATAL)\b|Exception|Error:|Unrecognized|Invalid maximum heap")
_FRAME = re.compile(r"\s+(at |\.\.\. \d+ more)")
_NOISE = "RECEIVED SIGNAL"


def configure(layout: ClusterLayout, daemon: ClusterDaemon) -> None:
    """Write the conf folder of a daemon. Raises OSError."""
    configuration = HadoopConfiguration.with_all(defaults.daemon_properties(layout, daemon))
    folder.write(layout.conf(daemon.name), configuration, f"{daemon.name}.log")


def start(layout: ClusterLayout, daemon: ClusterDaemon) -> DaemonProcess:
    """Start a configured daemon; ClusterError if Java itself does not start."""
    _put_aside(layout.logs, daemon)
    heap = defaults.heap(layout, layout.properties, daemon.role)
    child = _spawn(layout, daemon, layout.command(daemon, heap))
    return processes.identify_child(child.pid, daemon.name)


def format_namenode(layout: ClusterLayout) -> None:
    """Create an empty HDFS, unless there is one; ClusterError with the cause.

    Without -force, Hadoop refuses a folder that is not empty.
    """
    if all((folder / "current/VERSION").exists() for folder in layout.name_dirs()):
        return
    heap = defaults.heap(layout, layout.properties, NAMENODE.role)
    child = _spawn(layout, NAMENODE, layout.format_command(heap))
    try:
        status = child.wait(_FORMAT_LIMIT_SECONDS)
    except subprocess.TimeoutExpired as error:
        fault = f"it was not done after {_FORMAT_LIMIT_SECONDS:.0f} s"
        raise describe_exit(layout, NAMENODE.name, fault) from error
    if status:
        raise describe_exit(layout, NAMENODE.name, "its HDFS could not be formatted")


def describe_exit(layout: ClusterLayout, name: str, found: str = "it has ended") -> ClusterError:
    """Describe a daemon that has ended: its name and the end of its log."""
    tail = " / ".join(log_end(layout.logs, name))
    return ClusterError(
        f"a {name} that serves",
        found=f"{found}; " + (f"its log ends: {tail}" if tail else "it has logged nothing"),
        where=f"{layout.logs / name}.log and .out",
        remedy="see its logs; what has ended is started again for the next trial",
    )


def log_end(logs: Path, name: str) -> tuple[str, ...]:
    """Return the last lines of a daemon's log and output, errors first."""
    lines = [line for suffix in ("log", "out") for line in _tail(logs / f"{name}.{suffix}")]
    errors = [line for line in lines if _ERROR.search(line) and _NOISE not in line]
    return tuple(line[:_LINE_CHARACTERS] for line in (errors or lines)[-_LINES:])


def _tail(path: Path) -> Iterator[str]:
    """Return the last lines without stack traces."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return
    yield from (line for line in text.splitlines() if line.strip() and not _FRAME.match(line))


def _put_aside(logs: Path, daemon: ClusterDaemon) -> None:
    """Rename the previous logs, so that an old error is not reported as a new one."""
    for suffix in ("log", "out"):
        path = logs / f"{daemon.name}.{suffix}"
        if path.exists():
            path.replace(path.with_suffix(f".{suffix}.previous"))


def _spawn(
    layout: ClusterLayout, daemon: ClusterDaemon, command: tuple[str, ...]
) -> subprocess.Popen[bytes]:
    try:
        return processes.start(
            (*confinement.wrap(layout, layout.logs), *command),
            confinement.environment(layout, daemon.name),
            layout.logs,
            layout.logs / f"{daemon.name}.out",
        )
    except OSError as error:
        raise ClusterError(
            f"to start the {daemon.name}",
            found=f"{error.strerror} ({error.filename})",
            where=command[0],
            remedy="check that Java is there, and that the folder of logs can be written to",
        ) from error
