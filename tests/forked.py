"""The program in a fork of this process: it has imported everything, so it starts at once."""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_HEAVY = ("iostudy.cli.main", "iostudy.cli.study_runner", "iostudy.cli.bench.command")


class ForkedCommand:
    """A command that runs in ``directory``; all its streams are ``stream``."""

    def __init__(
        self, arguments: Sequence[str], directory: Path, variables: Mapping[str, str], stream: int
    ) -> None:
        for module in _HEAVY:
            importlib.import_module(module)
        self._code: int | None = None
        self.pid = os.fork()
        if not self.pid:
            _become(arguments, directory, variables, stream)

    def poll(self) -> int | None:
        """Its exit code, None as long as it runs."""
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def end(self, number: int) -> int:
        """Send it a signal if it runs still, and wait; its exit code."""
        if self.poll() is None:
            os.kill(self.pid, number)
        while (code := self.poll()) is None:
            time.sleep(0.01)
        return code


def _become(
    arguments: Sequence[str], directory: Path, variables: Mapping[str, str], stream: int
) -> None:
    code = 1
    try:
        os.setsid()
        for number in range(3):
            os.dup2(stream, number)
        os.chdir(directory)
        os.environ.update(variables)
        sys.argv = ["iostudy", *arguments]
        sys.stdin = os.fdopen(0, "r", closefd=False)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        importlib.import_module("iostudy.cli.main").main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    finally:
        os._exit(code)
