"""Processes that serve a file system, identified by the end of their command line.

A server prints a line before it reads its request from standard input. From then on recovery can
find it, and before it cannot mount anything.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from iostudy.errors import RestoreError
from iostudy.host.processes import belongs_to, read_users

STARTED, SERVING = "started", "serving"
_PROC = Path("/proc")
_PATIENCE_SECONDS = 10.0
_POLL_SECONDS = 0.02
_children: list[subprocess.Popen[str]] = []


def start(
    command: Sequence[str],
    request: str,
    *,
    stderr: int | None = subprocess.STDOUT,
    environ: Mapping[str, str] = os.environ,
) -> str:
    """Start a server and wait until it serves; return its message if it fails, else "".

    ``stderr`` is that of Popen: STDOUT makes it a part of the message.
    """
    child = subprocess.Popen(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        start_new_session=True,
        cwd="/",
        env=dict(environ),
    )
    _children.append(child)
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdin, child.stdout:
        answer = child.stdout.readline()
        if answer.strip() == STARTED:
            child.stdin.write(request)
            child.stdin.close()
            answer = child.stdout.readline()
        if answer.strip() == SERVING:
            return ""
        return (answer + child.stdout.read()).strip() or "the server has ended"


def find(arguments: Sequence[str]) -> tuple[int, ...]:
    """Return the process numbers of servers by the last arguments of their command lines.

    Only those of this user count: every user can start a process with such arguments.
    """
    wanted = [os.fsencode(argument) for argument in arguments]
    entries = [entry for entry in _PROC.iterdir() if entry.name.isdecimal()]
    matching = [entry for entry in entries if _arguments(entry)[-len(wanted) :] == wanted]
    return tuple(int(entry.name) for entry in matching if belongs_to(entry, (os.geteuid(),)))


def kill(arguments: Sequence[str]) -> bool:
    """Kill those servers; return whether there was one.

    The kernel then fails every request that is open. RestoreError if a process does not end.
    """
    pids = find(arguments)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while left := find(arguments):
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _reap()
        if time.monotonic() > deadline:
            raise RestoreError(
                "to end the server of a file system",
                found=f"process {left[0]} does not end",
                where=" ".join(arguments),
                remedy="see dmesg; `iostudy restore` tries again",
            )
        time.sleep(_POLL_SECONDS)
    _reap()
    return bool(pids)


def wait(arguments: Sequence[str]) -> int:
    """Wait for the end of the server that this process has started; return its status.

    Negative for a signal, as of Popen.
    """
    words = list(arguments)
    (child,) = (c for c in _children if isinstance(c.args, list) and c.args[-len(words) :] == words)
    return child.wait()


def _reap() -> None:
    _children[:] = [child for child in _children if child.poll() is None]


def _arguments(process: Path) -> list[bytes]:
    """Command line of a process; empty if it has ended, or is not this user's at all."""
    if os.geteuid() not in read_users(process):
        return []
    try:
        return (process / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except OSError:
        return []
