"""Supervisor process between iostudy and a program; it ends all descendants with the run.

A script of its own, ``python -I -S guard.py CONTROL``, that imports nothing of iostudy, so it is
small. The peak memory that the kernel reports for a program includes that of its parent at the fork
(getrusage(2), ru_maxrss). iostudy has many times what a small program needs.

CONTROL is a socket. The guard reads a request from it (a line of JSON), runs the program, and
writes a report (likewise). It ends the program as soon as there is anything more to read, or the
other end is closed - which the kernel does too when iostudy is killed. The kernel gives it every
orphan of the program, also daemons (prctl(2), PR_SET_CHILD_SUBREAPER), and it kills them.

A second process, the reaper, is the parent of the guard. If the guard is killed, the reaper adopts
its children and kills them. If the reaper is killed, the guard ends the program. All their children
come from the program, so no process of others is killed, even if iostudy is the first process of a
container and adopts every orphan there. Neither root nor a control group is needed.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

GRACE_SECONDS = 2.0
"""So long a program may clean up for itself after SIGTERM, before SIGKILL."""

# <linux/prctl.h>
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None, use_errno=True)


def main(control: int) -> None:
    """Serve the one request that comes from ``control``, in a child; then kill what is left."""
    _become_subreaper()
    reaper_ended, held_by_reaper = os.pipe()
    guard = os.fork()
    if guard == 0:
        os.close(held_by_reaper)
        _serve(control, reaper_ended)
        return
    os.close(reaper_ended)
    _, status = os.waitpid(guard, 0)
    _end_all()
    _end_as(os.waitstatus_to_exitcode(status))


def _serve(control: int, reaper_ended: int) -> None:
    """Run the program; end it early if ``control`` or ``reaper_ended`` can be read from."""
    _become_subreaper()
    request = json.loads(_line(control))
    child_ended = _child_ended()
    began = time.monotonic()
    try:
        directory = _open_folder(request["directory"], request["account"])
        program = subprocess.Popen(
            request["arguments"],
            cwd=f"/proc/self/fd/{directory}",
            env=request["environment"],
            stdin=_input(request["input"], request["opened"]),
            start_new_session=True,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - the guard has one thread
            **request["account"],
        )
    except OSError as error:
        _report(control, errno=error.errno, strerror=error.strerror, filename=error.filename)
        return
    ended = _wait(program.pid, (control, reaper_ended), child_ended)
    wall_seconds = time.monotonic() - began
    left = _end_all()
    if ended is None:
        return
    status, usage = ended
    _report(
        control,
        status=status,
        wall_seconds=wall_seconds,
        user_seconds=usage.ru_utime,
        system_seconds=usage.ru_stime,
        peak_rss_bytes=usage.ru_maxrss * 1024,
        left_running=left,
    )


def _open_folder(path: str, account: dict[str, Any]) -> int:
    """Open the folder as the user of the program, who may lead its path where only root may go."""
    groups = os.getgroups()
    if account:
        os.setgroups(account["extra_groups"])
        os.setegid(account["group"])
        os.seteuid(account["user"])
    try:
        return os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    finally:
        if account:
            os.seteuid(os.getuid())
            os.setegid(os.getgid())
            os.setgroups(groups)


def _input(text: str, opened: str) -> int:
    """The file or folder ``opened``, or a file in memory: nobody has to feed a pipe."""
    if opened:
        return os.open(opened, os.O_RDONLY | os.O_CLOEXEC)
    descriptor = os.memfd_create("stdin")
    with open(descriptor, "w", encoding="utf-8", errors="surrogateescape", closefd=False) as file:
        file.write(text)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _end_as(code: int) -> None:
    """End as the guard has ended; ``code`` is negative for a signal."""
    if code < 0:
        with contextlib.suppress(OSError):  # SIGKILL cannot be handled
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


def _become_subreaper() -> None:
    """Adopt what the descendants of this process leave; OSError if the kernel refuses."""
    if _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl PR_SET_CHILD_SUBREAPER")


def _line(control: int) -> bytes:
    text = b""
    while not text.endswith(b"\n"):
        chunk = os.read(control, 1 << 16)
        if not chunk:
            sys.exit("guard: the request was cut off")
        text += chunk
    return text


def _child_ended() -> int:
    """A pipe that can be read from when a child has ended."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _wait(program: int, stops: Sequence[int], child_ended: int) -> tuple[int, Any] | None:
    """Wait status and resource usage of the program; None if one of ``stops`` came first."""
    while True:
        ready, _, _ = select.select([*stops, child_ended], [], [])
        if any(stop in ready for stop in stops):
            _terminate(program, child_ended)
            return None
        if ended := _reap(program, child_ended):
            return ended


def _terminate(program: int, child_ended: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program, signal.SIGTERM)
    until = time.monotonic() + GRACE_SECONDS
    while (rest := until - time.monotonic()) > 0:
        if select.select([child_ended], [], [], rest)[0] and _reap(program, child_ended):
            return


def _reap(program: int, child_ended: int) -> tuple[int, Any] | None:
    """Collect all that have ended; status and usage of the program if it is among them."""
    with contextlib.suppress(BlockingIOError):
        os.read(child_ended, 1 << 16)
    status = None
    with contextlib.suppress(ChildProcessError):
        while (ended := os.wait4(-1, os.WNOHANG))[0]:
            if ended[0] == program:
                status = ended[1:]
    return status


def _end_all() -> int:
    """Kill what is left until there is nothing; how many were running at first.

    Only children are killed: what these leave behind becomes a child at once.
    """
    first = 0
    with contextlib.suppress(ChildProcessError):
        # Without a child this is an error; to read /proc takes longer.
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        first = len(_running_children())
        while True:
            for pid in _running_children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)
    return first


def _running_children() -> list[int]:
    """The children of this process without zombies (proc_pid_stat(5))."""
    pid = str(os.getpid())
    children = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                state, parent = (entry / "stat").read_text("latin-1").rpartition(")")[2].split()[:2]
                if parent == pid and state != "Z":
                    children.append(int(entry.name))
    return children


def _report(control: int, **facts: Any) -> None:
    # The reader of the pipe may be gone.
    with contextlib.suppress(BrokenPipeError):
        os.write(control, json.dumps(facts).encode() + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
