"""Programs that a command runs for its user: their start, signals and exit code."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from iostudy.errors import NOT_EXECUTABLE, NOT_FOUND, ProgramError

_SIGNAL_BASE = 128
"""POSIX's shell adds the number of a signal to it (2.8.2, Exit Status for Commands)."""


def exit_code(status: int) -> int:
    """Return the exit code of a program as a shell does, from that of its Popen."""
    return status if status >= 0 else _SIGNAL_BASE - status


@dataclass
class SignalForwarder:
    """Forwards received signals to a process once it exists.

    In the foreground of a terminal, Ctrl-C reaches the process directly. A second SIGINT would make
    many programs exit without their cleanup.
    """

    received: list[int] = field(default_factory=list)
    pid: int | None = None

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.pid is None:
            self.received.append(number)
        elif number != signal.SIGINT or not _is_in_foreground():
            os.kill(self.pid, number)

    def forward_to(self, pid: int | None) -> None:
        """Forward to this process from now on, or to none; earlier signals are sent at once."""
        self.pid = pid
        if pid is not None:
            for number in self.received:
                os.kill(pid, number)


@contextmanager
def forward_signals(ending: Collection[signal.Signals]) -> Iterator[SignalForwarder]:
    """Forward these signals in this context, instead of handling them."""
    handed = SignalForwarder()
    before = {number: signal.signal(number, handed.handle) for number in ending}
    try:
        yield handed
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_in_foreground() -> bool:
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:  # stdin is no terminal, or closed
        return False


def start_program(command: Sequence[str], stdout: int | None = None) -> subprocess.Popen[bytes]:
    """Start a program; ProgramError if there is none or it cannot be executed."""
    try:
        return subprocess.Popen(command, stdout=stdout)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise ProgramError(
            f"to run {command[0]}",
            found=error.strerror or str(error),
            where="the command line, after --",
            remedy="name a program in the PATH, or by its path, that may be executed",
            exit_code=NOT_FOUND if missing else NOT_EXECUTABLE,
        ) from error
