"""Process that serves a modelled drive as a file in the folder of a scratch disk.

``python -m iostudy_lab.device.server FOLDER`` is a server of
`iostudy.settings.server_process`.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iostudy import _native
from iostudy.errors import TargetError
from iostudy.settings import server_process
from iostudy.units import MIB

MODULE = "iostudy_lab.device.server"
_EARLIER_MODULE = "iostudy.settings.scratch.drive_server"
"""Servers of a version in which the core had the models."""
FILE = "drive"
STATISTICS = "statistics"
_STATISTICS_BYTES = MIB
"""More than the text of the statistics has; one FUSE request reads it."""


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
    message = {
        "parameters": request.parameters,
        "memory_limit": request.memory_limit_bytes,
        "point": str(point),
        "socket": None if request.socket is None else str(request.socket),
    }
    failure = server_process.start(
        [sys.executable, "-m", MODULE, str(folder)],
        json.dumps(message),
        environ={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    if failure:
        raise TargetError(
            "to serve a modelled drive",
            found=failure,
            where=str(point),
            remedy="run as root, on a kernel with FUSE (modprobe fuse; ls /dev/fuse)",
        )


def find(folder: Path) -> tuple[int, ...]:
    """Return the process numbers of the servers of that folder."""
    groups = (server_process.find(identity) for identity in _identities(folder))
    return tuple(pid for pids in groups for pid in pids)


def kill(folder: Path) -> bool:
    """Kill the servers of that folder; return whether there was one."""
    killed = [server_process.kill(identity) for identity in _identities(folder)]
    return any(killed)


def _identities(folder: Path) -> tuple[tuple[str, str], ...]:
    """The possible ends of the command line of its servers."""
    return (MODULE, str(folder)), (_EARLIER_MODULE, str(folder))


def read_statistics(point: Path) -> dict[str, Any]:
    """Read the statistics of a drive that is served on that mount point; OSError if it is not."""
    descriptor = os.open(point / STATISTICS, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # A single read: the server writes the text anew for each.
        statistics: dict[str, Any] = json.loads(os.read(descriptor, _STATISTICS_BYTES))
    finally:
        os.close(descriptor)
    return statistics


def main() -> None:
    """Serve until the mount point is unmounted."""
    _say(server_process.STARTED)
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
    _say(server_process.SERVING)
    # No process reads the outputs from now on: a write would end the server.
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


if __name__ == "__main__":
    main()
