"""Adoption and killing of processes that a dead guard leaves behind.

A guard is the reaper of all that its program starts. Should it be killed, the kernel gives its
children to the next reaper above: to iostudy, while this module makes it one (prctl(2),
PR_SET_CHILD_SUBREAPER). Neither root nor a control group is needed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from iostudy.workloads.external import guard

_KILLED_WITHIN_SECONDS = 10.0
_LOOK_EVERY_SECONDS = 0.005


@dataclass
class _OwnProcesses:
    """The processes that this process started, and the number of runs that need it as a reaper.

    A reaper is a property of the process, not of a thread; the runs of a mix share it.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    own: set[int] = field(default_factory=set)
    runs: int = 0

    def change_runs(self, by: int) -> None:
        with self.lock:
            self.runs += by
            guard.set_subreaper(on=self.runs > 0)


_own_processes = _OwnProcesses()


@contextmanager
def start_process(
    arguments: Sequence[str | os.PathLike[str]], **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process in its own session; it is no orphan while the context is open.

    ``options`` are those of subprocess.Popen, which also defines the exceptions.
    """
    with _own_processes.lock:
        process = subprocess.Popen(arguments, start_new_session=True, **options)
        _own_processes.own.add(process.pid)
    try:
        with process:
            yield process
    finally:
        _own_processes.own.discard(process.pid)


@dataclass(frozen=True)
class AdoptedProcesses:
    """The processes adopted by iostudy since its own children had these ``sessions``.

    Each program has its own session, and no process can enter another one (setsid(2)). So a
    process in iostudy's own session, or in that of another child, does not belong to a program.
    """

    sessions: frozenset[int]

    def kill(self) -> int:
        """Kill and reap all orphans of dead guards and what these leave; how many there were.

        Gives up after some seconds on what hangs in the kernel, which nobody can end.
        """
        killed: set[int] = set()
        deadline = time.monotonic() + _KILLED_WITHIN_SECONDS
        while (found := self._orphans()) and time.monotonic() < deadline:
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            killed |= found
            time.sleep(_LOOK_EVERY_SECONDS)
        return len(killed)

    def _orphans(self) -> set[int]:
        with _own_processes.lock:
            known = self.sessions | _own_processes.own
            return {child.pid for child in guard.children() if child.session not in known}


@contextmanager
def adopt_orphans() -> Iterator[AdoptedProcesses]:
    """Be the reaper for as long as the context is open."""
    with _own_processes.lock:
        sessions = {child.session for child in guard.children()} - _own_processes.own
    _own_processes.change_runs(1)
    try:
        yield AdoptedProcesses(frozenset({os.getsid(0), *sessions}))
    finally:
        _own_processes.change_runs(-1)
