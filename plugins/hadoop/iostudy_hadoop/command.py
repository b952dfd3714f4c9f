"""Runs a short program with time limits and captures its output."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from iostudy.line_handler import LineHandler, ignore_line

_KEPT_LINES = 400
_KEPT_CHARACTERS = 600
_LINE_BYTES = 1 << 16


@dataclass(frozen=True)
class CommandOutput:
    """Exit status and last lines of both outputs of a program."""

    status: int
    lines: tuple[str, ...]

    def end(self) -> str:
        """Return the last of it in one line, for an error."""
        return " / ".join(line.strip() for line in self.lines if line.strip())[-_KEPT_CHARACTERS:]


class CommandFailedError(Exception):
    """A program that cannot start or exceeds its time; the text says which."""


@dataclass(frozen=True)
class CommandLimits:
    """Longest total time and longest silence of a program, in seconds."""

    seconds: float
    silence_seconds: float


def run_command(
    command: Sequence[str],
    limits: CommandLimits,
    environ: Mapping[str, str],
    on_line: LineHandler = ignore_line,
) -> CommandOutput:
    """Run a command to its end; raise CommandFailedError if it fails to start or to end in time.

    Any exception, including one of a signal handler, kills all its processes. A session of its
    own shields it from the signals that a terminal sends to the foreground group.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=dict(environ),
        )
    except OSError as error:
        what = f"{command[0]} cannot be started: {error.strerror or error}"
        raise CommandFailedError(what) from error
    with process:
        try:
            return _listen(process, limits, on_line)
        except BaseException:
            # It may have ended, and no process of it is left to be killed.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise


def _listen(
    process: subprocess.Popen[bytes], limits: CommandLimits, on_line: LineHandler
) -> CommandOutput:
    assert process.stdout is not None
    until = time.monotonic() + limits.seconds
    lines: deque[str] = deque(maxlen=_KEPT_LINES)
    begun = b""
    # A line is cut to its end, so that output without line ends takes neither memory nor time.
    while chunk := _read(process.stdout.fileno(), limits, until):
        *whole, begun = (begun + chunk).split(b"\n")
        for line in whole:
            lines.append(line.decode(errors="replace"))
            on_line(lines[-1])
        begun = begun[-_LINE_BYTES:]
    lines.append(begun.decode(errors="replace"))
    try:
        status = process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise _too_slow(limits.seconds, "it had not ended") from error
    return CommandOutput(status, tuple(lines))


def _read(descriptor: int, limits: CommandLimits, until: float) -> bytes:
    left = max(0.0, until - time.monotonic())
    if select.select([descriptor], [], [], min(left, limits.silence_seconds))[0] and left:
        return os.read(descriptor, 1 << 16)
    if left < limits.silence_seconds:
        raise _too_slow(limits.seconds, "it had not ended")
    raise _too_slow(limits.silence_seconds, "it had printed nothing more")


def _too_slow(seconds: float, what: str) -> CommandFailedError:
    return CommandFailedError(f"{what} after {seconds:.1f} s")
