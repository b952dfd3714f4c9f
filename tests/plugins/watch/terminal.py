"""The program in a pseudo-terminal of its own, as over ssh: keys go in, what is drawn comes out."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import termios
import time
from contextlib import suppress
from importlib import import_module

from tests.forked import become_program

HANG_GUARD_SECONDS = 300.0


class Terminal:
    """Runs iostudy with these arguments until it ends."""

    def __init__(self, *arguments: str, columns: int = 80, lines: int = 24, **env: str) -> None:
        import_module("iostudy_watch.app")
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            become_program(arguments, {**os.environ, "TERM": "xterm-256color", **env})
        size = struct.pack("HHHH", lines, columns, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        self.before = termios.tcgetattr(self._master)
        self.drawn = b""

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def modes(self) -> list[object]:
        """How the terminal treats what is typed and printed: tcgetattr(3)."""
        return list(termios.tcgetattr(self._master))

    def wait_for(self, text: str) -> None:
        """Until it has been drawn."""
        ends = time.monotonic() + HANG_GUARD_SECONDS
        while text.encode() not in self.drawn:
            assert time.monotonic() < ends, self.drawn[-2000:]
            assert self._read(), self.drawn[-2000:]

    def wait(self) -> int:
        """Until it ends; its exit code."""
        while self._read():
            pass
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)

    def hang_up(self) -> int:
        """Take the terminal away, as a lost connection does; the exit code."""
        os.close(self._master)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)

    def _read(self) -> bool:
        with suppress(OSError):  # EIO: nobody has the other end open any more
            more = os.read(self._master, 65536)
            self.drawn += more
            return bool(more)
        return False
