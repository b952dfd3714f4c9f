"""The program in the process of the tests: its output, files and exit code, without its start.

A start takes longer than most commands do. What is proven of processes, of signals and of what
outlives them is proven with `Program` itself.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from unittest.mock import patch

import pytest

from iostudy.cli import watchdog
from iostudy.cli.main import main
from iostudy.cli.signals import TERMINATION_SIGNALS
from tests.cli.program import Program


class InProcessProgram(Program):
    """Called as a `Program` is, without watchdogs.

    What it lets through, no user should see: it fails the test.
    """

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        stdout, stderr = io.StringIO(), io.StringIO()
        with self._surroundings(arguments), redirect_stdout(stdout), redirect_stderr(stderr):
            code = _exit_code()
        return subprocess.CompletedProcess(
            ["iostudy", *arguments], code, stdout.getvalue(), stderr.getvalue()
        )

    @contextmanager
    def _surroundings(self, arguments: tuple[str, ...]) -> Iterator[None]:
        """Everything of a process that the program looks at or changes."""
        handlers = {number: signal.getsignal(number) for number in TERMINATION_SIGNALS}
        with pytest.MonkeyPatch.context() as replaced, patch.dict(os.environ, self.env, clear=True):
            replaced.chdir(self.folder)
            replaced.setattr(watchdog, "start_watchdog", lambda *_: None)
            replaced.setattr(sys, "argv", ["iostudy", *arguments])
            try:
                yield
            finally:
                for number, handler in handlers.items():
                    signal.signal(number, handler)


def _exit_code() -> int:
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 0
