"""Runs a command, and holds the lock on the journal that it has inherited until the command ends.

Usage: command_keeper.py SECONDS MOST_BYTES COMMAND...; 0 seconds are no limit. It prints a JSON
object: the exit ``status``, or a ``problem`` in its place, the ``output`` and the ``messages``.

A script of its own: it starts in milliseconds, and outlives iostudy if that is killed. The command
does not have the lock, so a server that it leaves behind does not, either. SIGTERM, the end of the
time and more output than allowed end the command with the programs that it has started.
"""

from __future__ import annotations

import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_KILL_SECONDS = 2.0
"""Time for killed processes to end; one in an uninterruptible sleep does not."""


class _Keeper:
    """A command with a process group of its own, whose orphans become children of this process."""

    def __init__(self, seconds: float, most_bytes: int, command: list[str]) -> None:
        self._deadline = time.monotonic() + seconds if seconds else None
        self._most_bytes = most_bytes
        self._problem = ""
        self._texts = {"output": b"", "messages": b""}
        self._wake, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self._give_up("it was ended"))
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        # No file descriptor of this process but the first three: a server must not have the lock.
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(command, stdout=pipe, stderr=pipe, process_group=0)

    def run(self) -> dict[str, object]:
        """Return what to print, after the end of the command."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake, selectors.EVENT_READ, "")
            for name, pipe in (("output", self._child.stdout), ("messages", self._child.stderr)):
                assert pipe is not None
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ, name)
            while self._child.poll() is None and not self._problem:
                self._collect(selector)
            self._collect(selector, wait=False)
        status = None if self._problem else self._child.returncode
        if self._problem:
            self._kill()
        texts = {name: data.decode(errors="surrogateescape") for name, data in self._texts.items()}
        return {"status": status, "problem": self._problem, **texts}

    def _collect(self, selector: selectors.BaseSelector, *, wait: bool = True) -> None:
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        for key, _ in selector.select(left if wait else 0):
            with suppress(BlockingIOError):
                data = os.read(key.fd, self._most_bytes + 1)
                if key.data:
                    self._texts[key.data] += data
                if not data:
                    selector.unregister(key.fileobj)
        if any(len(text) > self._most_bytes for text in self._texts.values()):
            self._give_up(f"it printed more than {self._most_bytes} bytes")
        if wait and self._deadline is not None and time.monotonic() >= self._deadline:
            self._give_up("it did not end in time")

    def _give_up(self, problem: str) -> None:
        self._problem = self._problem or problem

    def _kill(self) -> None:
        """Kill every process of the command, and say which of them do not end."""
        deadline = time.monotonic() + _KILL_SECONDS
        children = Path("/proc/self/task", str(os.getpid()), "children")
        while left := children.read_text("ascii").split():
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(-1, os.WNOHANG)
            if time.monotonic() > deadline:
                self._problem += f", and its process {', '.join(left)} cannot be killed"
                return
            time.sleep(0.002)


if __name__ == "__main__":
    seconds, most_bytes, *command = sys.argv[1:]
    try:
        json.dump(_Keeper(float(seconds), int(most_bytes), command).run(), sys.stdout)
    except OSError as error:
        json.dump({"status": None, "problem": str(error), "output": "", "messages": ""}, sys.stdout)
