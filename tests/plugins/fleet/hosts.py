"""Several nodes on this machine: processes with folders and locks of their own, behind a fake ssh.

The fake takes the place of ssh and sshd only. All that ssh starts is real.
"""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tests.cli.program import Program

AGENT, SUPERVISOR = "iostudy_fleet.agent", "iostudy_fleet.supervision.supervisor"
"""Modules of the processes on a node."""
SSH = """\
#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift; host=$1; shift
[ -f "HOSTS/$host" ] || { echo "ssh: connect to host $host: no route" >&2; exit 255; }
. "HOSTS/$host"
exec sh -c "$*"
"""


class Hosts:
    """A controller, and nodes by name."""

    def __init__(self, folder: Path) -> None:
        self.controller = Program(folder)
        self.folder = folder
        (folder / "bin").mkdir()
        ssh = folder / "bin/ssh"
        ssh.write_text(SSH.replace("HOSTS", str(folder / "hosts")))
        ssh.chmod(0o755)
        (folder / "hosts").mkdir()
        (folder / "target").mkdir()
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        self.controller.env["PATH"] = path
        self.names: list[str] = []

    def add(self, *names: str, **more: str) -> str:
        """Add nodes; return the value of --nodes for all."""
        for name in names:
            own = self.folder / "nodes" / name
            own.mkdir(parents=True)
            variables = {
                "IOSTUDY_STATE_DIR": str(own / "state"),
                "IOSTUDY_LOCK_DIR": str(own / "locks"),
                **more,
            }
            lines = [f"export {key}={shlex.quote(value)}\n" for key, value in variables.items()]
            (self.folder / "hosts" / name).write_text("".join(lines))
            self.names.append(name)
        return f"ssh:{','.join(self.names)}"

    def state(self, name: str) -> Path:
        return self.folder / "nodes" / name / "state"

    def find(self, name: str, module: str) -> list[int]:
        return find_processes(self.state(name), module)

    def send(self, name: str, module: str, number: int) -> None:
        """Send a signal to the processes of a module on a node."""
        for process in self.find(name, module):
            os.kill(process, number)

    def kill(self, name: str, module: str) -> None:
        kill_processes(self.state(name), module)

    def end(self) -> None:
        """End what a failed test left."""
        self.controller.end()
        for name in self.names:
            for module in (AGENT, SUPERVISOR):
                self.kill(name, module)


def find_processes(state: Path, module: str = "") -> list[int]:
    """The processes of a module, or all, on the node with this state directory."""
    marked = f"IOSTUDY_STATE_DIR={state}".encode()
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdecimal() and _runs(entry, marked, module.encode())
    ]


def kill_processes(state: Path, module: str) -> None:
    """Kill the processes of a module on a node."""
    kill_all(find_processes(state, module))


def kill_all(numbers: Iterable[int]) -> None:
    """Kill processes, also those that have ended just now."""
    for number in numbers:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def _runs(process: Path, marked: bytes, module: bytes) -> bool:
    try:
        variables = (process / "environ").read_bytes().split(b"\0")
        words = (process / "cmdline").read_bytes().split(b"\0")
    except OSError:  # it has ended
        return False
    return marked in variables and (not module or module in words)
