"""Stopwatch of the phases of a trial."""

from __future__ import annotations

import time


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
