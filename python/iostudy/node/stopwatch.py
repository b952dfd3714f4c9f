"""Stopwatch of the phases of a trial, and messages about a step that takes long."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from iostudy.line_handler import LineHandler
from iostudy.units import format_seconds


class Stopwatch:
    """Seconds by phase; the start of a phase ends the previous one."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._phase = ""
        self._since = time.monotonic()

    def begin(self, phase: str) -> None:
        """Start a phase."""
        now = time.monotonic()
        if self._phase:
            self._seconds[self._phase] = self._seconds.get(self._phase, 0.0) + now - self._since
        self._phase, self._since = phase, now

    def end(self) -> dict[str, float]:
        """End the last phase and return seconds by phase, in order."""
        self.begin("")
        return self._seconds


SLOW_SECONDS = 5.0
"""A choice: a person begins to wonder."""


@contextmanager
def report_slow_step(on_progress: LineHandler, step: str) -> Iterator[None]:
    """Pass one line to ``on_progress`` if the block takes longer than SLOW_SECONDS.

    sync(2) and drop_caches wait for every file system of the host, one after the other. A slow
    write or unmount of any of them holds them up, and nothing can interrupt them.
    """
    line = (
        f"{step} takes over {format_seconds(SLOW_SECONDS)}: the kernel waits for all file systems "
        "of the host, and one of them is slow to write or to unmount"
    )
    timer = threading.Timer(SLOW_SECONDS, on_progress, (line,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
