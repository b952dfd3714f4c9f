"""Runs an external program without a shell, bounded in time and memory, and ends all of it."""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iostudy.account import Account, act_as_process
from iostudy.errors import UsageError, WorkloadError, WorkloadStoppedError
from iostudy.units import MIB, format_seconds
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.external import guard
from iostudy.workloads.tick import Tick, continue_run

KEPT_BYTES = 32 * MIB
"""So much of the end of each output is kept, in memory: files could lie on the disk under test."""

PIPE_BYTES = MIB
"""Size of the pipes of a program, as far as the kernel allows (pipe(7), pipe-max-size)."""
_ASK_EVERY_SECONDS = 0.1
_KILLED_WITHIN_SECONDS = guard.GRACE_SECONDS + 10
_LAST_LINES = 5
_LAST_CHARACTERS = 600


STDIN = "/proc/self/fd/0"
"""The path of a program's own standard input."""


@dataclass(frozen=True)
class Program:
    """A program with its arguments, where it works, and how long it may take.

    ``environment`` is put over iostudy's own, of which it has only the variables ``inherited``, or
    all; ``input`` is what it reads from its standard input.
    With ``opened`` the standard input is that file or folder instead: the program then reaches by
    `STDIN` what it could not open by its path. ``account`` is the user that it runs as.
    """

    arguments: tuple[str, ...]
    directory: Path
    limit_seconds: float
    environment: Mapping[str, str] = field(default_factory=dict)
    inherited: frozenset[str] | None = None
    input: str = ""
    opened: Path | None = None
    account: Account | None = None

    def __str__(self) -> str:
        given = f" <<< {shlex.quote(self.input)}" if self.input else ""
        given += f" < {shlex.quote(str(self.opened))}" if self.opened else ""
        return shlex.join(self.arguments) + given

    def require_installed(self, remedy: str) -> None:
        """UsageError unless the program is there, as a path or by the PATH that it will have."""
        name = self.arguments[0]
        if shutil.which(name, path=self._environment().get("PATH")) is None:
            raise UsageError(
                f"the program {name}",
                found="there is no such program" if "/" in name else "it is not in the PATH",
                where="this host",
                remedy=remedy,
            )

    def request(self) -> bytes:
        """Return the request to the supervisor."""
        request = {
            "arguments": self.arguments,
            "directory": str(self.directory),
            "environment": self._environment(),
            "input": self.input,
            "opened": str(self.opened or ""),
            "account": self.account.process_user if self.account else {},
        }
        return json.dumps(request).encode() + b"\n"

    def _environment(self) -> dict[str, str]:
        login = self.account.environment if self.account else {}
        given = dict(os.environ)
        if self.inherited is not None:
            given = {name: value for name, value in given.items() if name in self.inherited}
        return {**given, **login, **self.environment}


@dataclass(frozen=True)
class Output:
    """The end of a program's output; ``lost_bytes`` before it were discarded."""

    text: str
    lost_bytes: int = 0

    def last_lines(self) -> str:
        """A few, in one line, for an error."""
        end = self.text[-_LAST_LINES * _LAST_CHARACTERS :]
        lines = [line.strip() for line in end.splitlines() if line.strip()]
        return " / ".join(lines[-_LAST_LINES:])[-_LAST_CHARACTERS:]


@dataclass(frozen=True)
class ProgramResult:
    """How a program ended, and what it took.

    CPU times and peak memory are those of wait4(2): of the program and of those it has waited for,
    memory of the largest one. ``left_running`` processes were still there, and were killed.
    """

    program: Program
    status: int
    stdout: Output
    stderr: Output
    wall_seconds: float
    user_seconds: float
    system_seconds: float
    peak_rss_bytes: int
    left_running: int

    def require_success(self, why: str = "") -> None:
        """WorkloadError with exit code or signal and the last output, unless the exit code is 0."""
        if self.status == 0:
            return
        how = f"ended with exit code {os.WEXITSTATUS(self.status)}"
        if os.WIFSIGNALED(self.status):
            how = f"was ended by {_signal(os.WTERMSIG(self.status))}"
        said = why or self.stderr.last_lines() or self.stdout.last_lines()
        raise WorkloadError(
            "the program to end with exit code 0",
            found=f"it {how}; it printed" + (f": {said}" if said else " nothing"),
            where=str(self.program),
            remedy="run it by hand, and see what it lacks",
        )


def _signal(number: int) -> str:
    return f"signal {number} ({signal.strsignal(number)})"


def run(program: Program, tick: Tick = continue_run) -> ProgramResult:
    """Run a program to its end.

    WorkloadError if it cannot be started or takes longer than it may, WorkloadStoppedError if
    ``tick`` says so. In any case, a signal among them, nothing of it is running afterwards.
    """
    with _guard(program) as (guarding, control):
        try:
            return _Run(program, guarding, control).wait(tick)
        finally:
            _end(guarding, control)


@contextmanager
def _guard(program: Program) -> Iterator[tuple[subprocess.Popen[bytes], socket.socket]]:
    """The guard and the socket that it is controlled by; WorkloadError if it cannot be started."""
    with ExitStack() as held:
        with translate_core_errors("to start the guard of a program", program.directory):
            ours, theirs = socket.socketpair()
            held.enter_context(ours)
            with theirs, act_as_process():
                arguments = [sys.executable, "-I", "-S", guard.__file__, str(theirs.fileno())]
                guarding = held.enter_context(
                    subprocess.Popen(
                        arguments,
                        pass_fds=(theirs.fileno(),),
                        start_new_session=True,
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                    )
                )
        yield guarding, ours


def _end(guarding: subprocess.Popen[bytes], control: socket.socket) -> None:
    """The guard ends all when its socket is closed, except a process that hangs in the kernel."""
    control.close()
    try:
        guarding.wait(_KILLED_WITHIN_SECONDS)
    except subprocess.TimeoutExpired:
        guarding.kill()
        guarding.wait()


class _Tail:
    """The last KEPT_BYTES of what a descriptor gives, in a ring.

    Every byte is copied once, so that a program that prints much seldom waits for its reader. The
    kernel gives the ring memory as it fills.
    """

    def __init__(self) -> None:
        self._ring = memoryview(mmap.mmap(-1, KEPT_BYTES))  # a bytearray would be filled with zeros
        self._end = 0
        self._count_bytes = 0
        self.at_end = False

    def read(self, descriptor: int) -> None:
        """Read once; the end of a socket is an error if its peer was killed."""
        try:
            count = os.readv(descriptor, [self._ring[self._end : self._end + PIPE_BYTES]])
        except ConnectionError:
            count = 0
        self.at_end = not count
        self._end = (self._end + count) % KEPT_BYTES
        self._count_bytes += count

    def output(self) -> Output:
        """Return what is kept, and how many bytes before it are not; call it once at the end."""
        lost_bytes = max(0, self._count_bytes - KEPT_BYTES)
        oldest = self._ring[self._end :] if lost_bytes else b""
        kept = b"".join((oldest, self._ring[: self._end]))
        del oldest
        self._ring = memoryview(b"")  # before the text takes as much memory again
        return Output(str(kept, errors="replace"), lost_bytes)


class _Run:
    """One run: the messages of supervisor and program until the supervisor ends."""

    def __init__(
        self, program: Program, guarding: subprocess.Popen[bytes], control: socket.socket
    ) -> None:
        assert guarding.stdout is not None and guarding.stderr is not None
        self._program = program
        self._guarding = guarding
        self._control = control
        for pipe in (guarding.stdout, guarding.stderr):
            with suppress(OSError):  # a user may have too many pages in pipes
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._report, self._stdout, self._stderr = _Tail(), _Tail(), _Tail()
        self._tails = {
            control.fileno(): self._report,
            guarding.stdout.fileno(): self._stdout,
            guarding.stderr.fileno(): self._stderr,
        }

    def wait(self, tick: Tick) -> ProgramResult:
        with suppress(ConnectionError):  # a guard that was killed sends no report either
            self._control.sendall(self._program.request())
        deadline = time.monotonic() + self._program.limit_seconds
        ask_at = 0.0
        with selectors.DefaultSelector() as selector:
            for descriptor, tail in self._tails.items():
                selector.register(descriptor, selectors.EVENT_READ, tail)
            while not self._report.at_end:
                for key, _ in selector.select(_ASK_EVERY_SECONDS):
                    key.data.read(key.fd)
                    if key.data.at_end:
                        selector.unregister(key.fd)
                if time.monotonic() >= ask_at:
                    self._ask(tick, deadline)
                    ask_at = time.monotonic() + _ASK_EVERY_SECONDS
            self._drain()
        return self._ended()

    def _ask(self, tick: Tick, deadline: float) -> None:
        if not tick(0):
            raise WorkloadStoppedError("to run a program to its end", where=str(self._program))
        if time.monotonic() > deadline:
            limit = format_seconds(self._program.limit_seconds)
            said = self._stderr.output().last_lines() or self._stdout.output().last_lines()
            raise WorkloadError(
                f"a program that ends within {limit}",
                found="it was still running, and was ended"
                + (f"; it had printed: {said}" if said else ""),
                where=str(self._program),
                remedy="give it a longer limit, or less to do",
            )

    def _drain(self) -> None:
        """Read the rest of the pipes without waiting for other processes that hold them."""
        for descriptor, tail in self._tails.items():
            os.set_blocking(descriptor, False)
            try:
                while not tail.at_end:
                    tail.read(descriptor)
            except BlockingIOError:
                continue

    def _ended(self) -> ProgramResult:
        stdout, stderr = self._stdout.output(), self._stderr.output()
        report = self._report.output().text
        if not report.endswith("\n"):
            code, said = self._guarding.wait(_KILLED_WITHIN_SECONDS), stderr.last_lines()
            how = f"was killed by {_signal(-code)}" if code < 0 else f"ended with exit code {code}"
            raise WorkloadError(
                "to run a program to its end",
                found=f"its guard {how}" + (f"; it printed: {said}" if said else ""),
                where=str(self._program),
                remedy="run it again; the kernel's log (dmesg) says whether memory had run out",
            )
        facts: dict[str, Any] = json.loads(report)
        if "errno" in facts:
            raise WorkloadError(
                "to start a program",
                found=f"{facts['strerror']} ({facts['filename']})",
                where=str(self._program),
                remedy="check that the program and its working directory are there, and may be "
                "used",
            )
        return ProgramResult(self._program, stdout=stdout, stderr=stderr, **facts)
