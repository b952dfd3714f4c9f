"""Processes of a local cluster, identified by a marker in their environment.

Children of a daemon inherit this environment variable. So any iostudy process finds them all in
/proc/PID/environ, even after the end of the process that started them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import ClusterError
from iostudy.host.processes import belongs_to, read_start_ticks, read_users

CLUSTER = "IOSTUDY_CLUSTER"
"""The variable that names the cluster of a process."""
DAEMON = "IOSTUDY_DAEMON"
"""The variable that names the daemon of a process or of its parent."""

UIDS = range(60578, 61184)
"""Users of root's clusters: numbers between those of people and of services, which nobody assigns.

Source: systemd's UIDS-GIDS.md; SYS_UID_MAX and UID_MAX of login.defs(5).
"""

_PROC = Path("/proc")
_OUTPUT = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_GRACE_SECONDS = 10.0
_KILLED_WITHIN_SECONDS = 10.0
_LOOK_EVERY_SECONDS = 0.05

_children: list[subprocess.Popen[bytes]] = []
"""Children of this process, which it must wait for: otherwise they remain as zombies."""


@dataclass(frozen=True)
class DaemonProcess:
    """A process, identified for all time by pid and start time.

    ``started_ticks`` is that of `iostudy.host.processes`, None for a process that has ended.
    """

    pid: int
    started_ticks: int | None
    daemon: str = ""

    def runs(self) -> bool:
        """Whether it exists and is no zombie."""
        return self.started_ticks is not None and read_start_ticks(self.pid) == self.started_ticks

    def arguments(self) -> tuple[str, ...]:
        """Return its command line; empty if it has ended."""
        return tuple(_read(self.pid, "cmdline").decode(errors="replace").split("\0")[:-1])

    def resident_bytes(self) -> int:
        """Return its resident memory (VmRSS); 0 if it has ended."""
        for line in _read(self.pid, "status").splitlines():
            if line.startswith(b"VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0


def start(
    arguments: Sequence[str], environment: Mapping[str, str], directory: Path, output: Path
) -> subprocess.Popen[bytes]:
    """Start a process in a new session, with both outputs in a file. Raises OSError.

    It inherits no open file of iostudy: an inherited lock would outlive its owner.
    """
    reap()
    with os.fdopen(os.open(output, _OUTPUT, 0o644), "wb") as file:
        child = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            close_fds=True,
            start_new_session=True,
            cwd=directory,
            env=environment,
        )
    adopt(child)
    return child


def adopt(child: subprocess.Popen[bytes]) -> None:
    """Make `reap` wait for a child that this process has started."""
    _children.append(child)


def reap() -> None:
    """Wait for the children that have ended."""
    _children[:] = [child for child in _children if child.poll() is None]


def identify_child(pid: int, daemon: str) -> DaemonProcess:
    """Return a child that was just started."""
    return DaemonProcess(pid, read_start_ticks(pid), daemon)


def find_processes(
    cluster: str, owners: Collection[int] | None = None
) -> tuple[DaemonProcess, ...]:
    """Return all processes of the cluster that belong to these users: this one and UIDS if None.

    Another user can see a cluster's name in a command line, and start processes with its marker,
    also set-user-ID programs.
    """
    marker = f"{CLUSTER}={cluster}".encode()
    processes = []
    users = frozenset((os.geteuid(), *UIDS) if owners is None else owners)
    for entry in (entry for entry in _PROC.iterdir() if entry.name.isdecimal()):
        if read_users(entry).isdisjoint(users):
            continue
        pid = int(entry.name)
        started_ticks, variables = read_start_ticks(pid), _read(pid, "environ").split(b"\0")
        # Later than the start time: the number may have become that of another process.
        if marker in variables and belongs_to(entry, users):
            process = DaemonProcess(pid, started_ticks, _daemon(variables))
            if process.runs():
                processes.append(process)
    return tuple(processes)


def end_processes(cluster: str) -> None:
    """End all processes of the cluster, first by SIGTERM; ClusterError if one remains."""
    for number, limit_seconds in (
        (signal.SIGTERM, _GRACE_SECONDS),
        (signal.SIGKILL, _KILLED_WITHIN_SECONDS),
    ):
        if _signalled(cluster, number, time.monotonic() + limit_seconds):
            return
    names = ", ".join(f"pid {process.pid} {process.daemon}" for process in find_processes(cluster))
    raise ClusterError(
        "all processes of the cluster to end",
        found=f"still there after SIGKILL: {names}",
        where=f"the processes with {CLUSTER}={cluster}",
        remedy="one that hangs in the kernel ends when its storage answers; then try again",
    )


def _signalled(cluster: str, number: signal.Signals, until: float) -> bool:
    """Signal all processes, including new ones; return whether all end in time."""
    signalled: set[DaemonProcess] = set()
    unseen = 0
    # A process that is becoming another program (execve(2)) has no environment for a moment.
    while unseen < 2:
        running = find_processes(cluster)
        unseen = 0 if running else unseen + 1
        for process in set(running) - signalled:
            _signal(process, number)
        signalled.update(running)
        reap()
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK_EVERY_SECONDS)
    return True


def _signal(process: DaemonProcess, number: signal.Signals) -> None:
    try:
        os.kill(process.pid, number)
    except ProcessLookupError:
        return  # it has ended by itself


def _daemon(variables: Sequence[bytes]) -> str:
    prefix = f"{DAEMON}=".encode()
    values = [
        variable.removeprefix(prefix) for variable in variables if variable.startswith(prefix)
    ]
    return values[0].decode(errors="replace") if values else ""


def _read(pid: int, name: str) -> bytes:
    """Return a file of the process; empty if it is gone or belongs to another user."""
    try:
        return (_PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""
