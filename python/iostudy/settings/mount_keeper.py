"""Runs mount(8), and holds the lock on the journal that it has inherited until mount(8) ends.

A script of its own: it starts in milliseconds, and outlives iostudy if that is killed. SIGTERM ends
mount(8) with the programs that it has started, and waits for their end.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from contextlib import suppress

_PR_SET_CHILD_SUBREAPER = 36


class _Keeper:
    """A command with a process group of its own."""

    def __init__(self, command: list[str]) -> None:
        self._is_ended = False
        self._child: subprocess.Popen[bytes] | None = None
        signal.signal(signal.SIGTERM, self._end)
        # Programs of an ended mount(8) become children of this process, which can wait for them.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        # No file descriptor of this process but the first three: a server must not have the lock.
        self._child = subprocess.Popen(command, process_group=0)
        if self._is_ended:
            self._end()

    def wait(self) -> int:
        """Return the status of the command, after the end of its group if it was ended."""
        assert self._child is not None
        status = self._child.wait()
        with suppress(ChildProcessError):
            while self._is_ended:
                os.waitpid(-self._child.pid, 0)
        return status

    def _end(self, *_: object) -> None:
        self._is_ended = True
        if self._child is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(_Keeper(sys.argv[1:]).wait() and 1)
