"""Process that serves a modelled drive as a file in the folder of a scratch disk.

``python -m iostudy.settings.scratch.drive_server FOLDER`` reads its request from standard input. It
prints a line before it reads: from then on, its command line identifies it. So recovery of the disk
finds every process that can mount something.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iostudy import _native
from iostudy.errors import RestoreError, TargetError
from iostudy.units import MIB

MODULE = "iostudy.settings.scratch.drive_server"
FILE = "drive"
STATISTICS = "statistics"
_STARTED, _SERVING = "started", "serving"
_STATISTICS_BYTES = MIB
"""More than the text of the statistics has; one FUSE request reads it."""
_PROC = Path("/proc")
_PATIENCE_SECONDS = 10.0
_POLL_SECONDS = 0.02
_children: list[subprocess.Popen[str]] = []


@dataclass(frozen=True)
class DriveRequest:
    """A drive to be served: parameters of the model as JSON, and the limit of its memory.

    ``socket`` is the path of an NBD server; None for no such server.
    """

    parameters: str
    memory_limit_bytes: int
    socket: Path | None = None


def start(folder: Path, point: Path, request: DriveRequest) -> None:
    """Start a server and wait until it serves; TargetError with its message if it fails."""
    child = subprocess.Popen(
        [sys.executable, "-m", MODULE, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        cwd="/",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    _children.append(child)
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdin, child.stdout:
        answer = child.stdout.readline()
        if answer.strip() == _STARTED:
            message = {
                "parameters": request.parameters,
                "memory_limit": request.memory_limit_bytes,
                "point": str(point),
                "socket": None if request.socket is None else str(request.socket),
            }
            child.stdin.write(json.dumps(message))
            child.stdin.close()
            answer = child.stdout.readline()
        if answer.strip() != _SERVING:
            raise TargetError(
                "to serve a modelled drive",
                found=(answer + child.stdout.read()).strip() or "the server has ended",
                where=str(point),
                remedy="run as root, on a kernel with FUSE (modprobe fuse; ls /dev/fuse)",
            )


def find(folder: Path) -> tuple[int, ...]:
    """Return the process numbers of the servers of that folder."""
    arguments = [MODULE.encode(), os.fsencode(folder)]
    entries = [entry for entry in _PROC.iterdir() if entry.name.isdecimal()]
    return tuple(int(entry.name) for entry in entries if _arguments(entry)[-2:] == arguments)


def kill(folder: Path) -> bool:
    """Kill the servers of that folder; return whether there was one.

    The kernel then fails every request that is open. RestoreError if a process does not end.
    """
    found = find(folder)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while left := find(folder):
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for child in _children:
            child.poll()
        if time.monotonic() > deadline:
            raise RestoreError(
                "to end the server of a modelled drive",
                found=f"process {left[0]} does not end",
                where=str(folder),
                remedy="see dmesg; `iostudy restore` tries again",
            )
        time.sleep(_POLL_SECONDS)
    _children[:] = [child for child in _children if child.poll() is None]
    return bool(found)


def read_statistics(point: Path) -> dict[str, Any]:
    """Read the statistics of a drive that is served on that mount point; OSError if it is not."""
    descriptor = os.open(point / STATISTICS, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # A single read: the server writes the text anew for each.
        statistics: dict[str, Any] = json.loads(os.read(descriptor, _STATISTICS_BYTES))
    finally:
        os.close(descriptor)
    return statistics


def _arguments(process: Path) -> list[bytes]:
    """Command line of a process; empty if it has ended."""
    try:
        return (process / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except OSError:
        return []


def main() -> None:
    """Serve until the mount point is unmounted."""
    _say(_STARTED)
    request = json.loads(sys.stdin.read())
    _native.serve_drive(
        request["parameters"],
        request["point"],
        request["socket"],
        request["memory_limit"],
        _report_serving,
    )


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def _report_serving() -> None:
    _say(_SERVING)
    # No process reads the outputs from now on: a write would end the server.
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


if __name__ == "__main__":
    main()
