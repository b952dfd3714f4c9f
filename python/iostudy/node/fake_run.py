"""Simulated run whose rate follows the switches of its configuration, in simulated time."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from iostudy.errors import WorkloadError
from iostudy.node.protocol import RunResult
from iostudy.telemetry.recorder import Telemetry
from iostudy.workloads.windows import Window, WindowCount

_SWITCH_SECONDS = 0.005


@dataclass(frozen=True)
class FakeResponse:
    """An exponential response: the log rate begins at ``amplitude`` and approaches 0."""

    amplitude: float
    seconds: float


NO_RESPONSE = FakeResponse(0.0, 1.0)


@dataclass
class FakeRun:
    """A run with ``rate(label)`` operations per second and noise of each window.

    ``responses`` are by label. ``fails_after`` ends the run after so many switches.
    """

    rate: Callable[[str], float]
    responses: Callable[[str], FakeResponse]
    figures: Sequence[str]
    noise: float
    draw: random.Random
    telemetry: Telemetry
    device: str
    label: str
    fails_after: int | None = None
    log: list[str] = field(default_factory=list)
    _time: float = 0.0
    _switched: float = -math.inf
    _switches: int = 0
    _open: list[Window] = field(default_factory=list)
    _completed: list[WindowCount] = field(default_factory=list)

    @property
    def meter(self) -> FakeRun:
        """The run is its own meter."""
        return self

    def now(self) -> float:
        """Return the simulated time."""
        return self._time

    def switch(self, label: str) -> None:
        """Switch after a fixed time."""
        self._switches += 1
        self._advance(self._time + _SWITCH_SECONDS)
        self.label, self._switched = label, self._time

    def verify(self) -> None:
        """Do nothing: no other process changes simulated settings."""

    def wait(self, until: float) -> None:
        """Advance the time."""
        if self.fails_after is not None and self._switches > self.fails_after:
            raise WorkloadError("a run", found="a scripted failure", where="fake", remedy="none")
        self._advance(max(until, self._time))

    def begin_check(self) -> None:
        """Do nothing."""

    def end_check(self) -> tuple[str, ...]:
        """Return none: simulated devices are never late."""
        return ()

    def open(self, window: Window) -> None:
        """Request a window; ValueError for one in the past."""
        if window.start < self._time:
            raise ValueError("a window in the past")
        self._open.append(window)

    def completed(self) -> Sequence[WindowCount]:
        """Return the windows completed since the last call."""
        done, self._completed = self._completed, []
        return done

    def stop(self) -> RunResult:
        """Return fixed telemetry."""
        return RunResult({}, self.telemetry, (self.device,), ())

    def _advance(self, until: float) -> None:
        """Complete the windows that end before: no switch happens inside one."""
        self._time = until
        ended = [window for window in self._open if window.end <= until]
        self._open = [window for window in self._open if window.end > until]
        self._completed += [self._measure(window) for window in ended]

    def _measure(self, window: Window) -> WindowCount:
        response, seconds = self.responses(self.label), window.end - window.start
        middle = (window.start + window.end) / 2 - self._switched
        log_rate = response.amplitude * math.exp(-middle / response.seconds)
        rate = self.rate(self.label) * math.exp(log_rate + self.draw.gauss(0.0, self.noise))
        return WindowCount(window, dict.fromkeys(self.figures, rate), round(rate * seconds))
