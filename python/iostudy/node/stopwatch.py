"""Seconds spent in each phase of a trial."""

from __future__ import annotations

import time


class Stopwatch:
    """Phases follow one another; beginning one ends the one before."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._phase = ""
        self._since = time.monotonic()

    def begin(self, phase: str) -> None:
        """From now on time counts for that phase."""
        now = time.monotonic()
        if self._phase:
            self._seconds[self._phase] = self._seconds.get(self._phase, 0.0) + now - self._since
        self._phase, self._since = phase, now

    def end(self) -> dict[str, float]:
        """Seconds by phase, in the order they were begun."""
        self.begin("")
        return self._seconds
