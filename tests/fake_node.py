"""Simulated node: figures from a seeded model, with scripted faults."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from iostudy.errors import IostudyError, WorkloadError
from iostudy.node.protocol import RunResult, TrialResult
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.telemetry.iostat import compute_iostat_figures
from iostudy.telemetry.recorder import Telemetry
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.workloads import catalog
from iostudy.workloads.measurement import BYTES
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
        return self

    def now(self) -> float:
        return self._time

    def switch(self, label: str) -> None:
        self._switches += 1
        self._advance(self._time + _SWITCH_SECONDS)
        self.label, self._switched = label, self._time

    def verify(self) -> None:
        """Do nothing: no other process changes simulated settings."""

    def wait(self, until: float) -> None:
        if self.fails_after is not None and self._switches > self.fails_after:
            raise WorkloadError("a run", found="a scripted failure", where="fake", remedy="none")
        self._advance(max(until, self._time))

    def begin_check(self) -> None:
        """Do nothing."""

    def end_check(self) -> tuple[str, ...]:
        return ()

    def open(self, window: Window) -> None:
        if window.start < self._time:
            raise ValueError("a window in the past")
        self._open.append(window)

    def completed(self) -> Sequence[WindowCount]:
        done, self._completed = self._completed, []
        return done

    def stop(self) -> RunResult:
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


DEVICE = "fake0"
_MOVED_KB = 64.0 * 1024


@dataclass(frozen=True)
class Disturbance:
    """The faults of a trial: a final error, or disturbances as shares.

    ``foreign_cpu`` is a share of the CPU time of both cores; None: unknown.
    """

    error: BaseException | None = None
    foreign_io: float = 0.0
    steal: float = 0.0
    foreign_cpu: float | None = None


@dataclass
class FakeNode:
    """Every trial gives ``base * (1 + effect) * exp(noise)`` as its verdict figure.

    ``effects`` are fractions by configuration label, or by (workload, configuration). ``noise`` is
    the standard deviation of the logarithm. ``script`` maps the number of a trial, from 0 in the
    order of calls, to a Disturbance. ``refuses`` are refused configurations with the reason, by
    label or by a level that they have, as ``block.scheduler=kyber``.
    ``responses`` are those to switches by label. ``fails_after`` ends a run after so many switches.
    ``log`` records the calls in order.
    """

    effects: Mapping[str | tuple[str, str], float] = field(default_factory=dict)
    noise: float = 0.02
    seed: int = 0
    base: float = 1000.0
    script: Mapping[int, Disturbance] = field(default_factory=dict)
    refuses: Mapping[str, IostudyError] = field(default_factory=dict)
    responses: Mapping[str, FakeResponse] = field(default_factory=dict)
    fails_after: int | None = None
    levels: tuple[str, ...] = ("none", "mq-deadline", "kyber", "bfq")
    log: list[str] = field(default_factory=list)
    _trials: int = 0

    def offered(self, setting: str, on: Sequence[str] = ()) -> tuple[str, ...]:
        return self.levels

    def preflight(
        self, requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
    ) -> Mapping[str, IostudyError]:
        self.log.append("preflight")
        return {
            c.label: self.refuses[name]
            for c in configurations
            for name in (c.label, *(f"{key}={value}" for key, value in c.settings.items()))
            if name in self.refuses
        }

    def circumstances(self) -> Mapping[str, Any]:
        return {"host": "fake", "target": {"device": DEVICE}}

    @contextmanager
    def block(
        self, request: WorkloadRequest, seed: int, round_seed: int = 0
    ) -> Iterator[_FakeSession]:
        self.log.append(f"prepare {request.label}")
        try:
            yield _FakeSession(self, request)
        finally:
            self.log.append(f"clean {request.label}")

    def run(self, request: WorkloadRequest, configuration: Configuration) -> TrialResult:
        number, self._trials = self._trials, self._trials + 1
        disturbance = self.script.get(number, Disturbance())
        self.log.append(f"trial {request.label} {configuration.label}")
        if disturbance.error is not None:
            raise disturbance.error
        return self._result(request, configuration, number, disturbance)

    def mean(self, request: WorkloadRequest, label: str) -> float:
        """Return the verdict figure without noise."""
        effect = self.effects.get((request.label, label), self.effects.get(label, 0.0))
        return self.base * (1 + effect)

    def _result(
        self,
        request: WorkloadRequest,
        configuration: Configuration,
        number: int,
        disturbance: Disturbance,
    ) -> TrialResult:
        deviation = random.Random(f"{self.seed} {number}").gauss(0.0, self.noise)
        value = self.mean(request, configuration.label) * math.exp(deviation)
        moved_kb = _MOVED_KB * (1 + disturbance.foreign_io)
        defined = catalog.get(request.name).figures(request.options)
        figures = {figure.name: value for figure in defined} | {BYTES: _MOVED_KB * 1024}
        telemetry = _telemetry(moved_kb, disturbance)
        settings = {f"{name}@{DEVICE}": value for name, value in configuration.settings.items()}
        return TrialResult(figures, settings, telemetry, (DEVICE,), {"run": 1.0}, ())


def _telemetry(moved_kb: float, disturbance: Disturbance) -> Telemetry:
    summary = TelemetrySummary(
        seconds=1.0,
        devices={DEVICE: compute_iostat_figures(_moved(moved_kb), 1.0)},
        machine=_machine(disturbance),
    )
    return Telemetry(summary, Samples(np.array([0.0, 1.0]), {}))


@dataclass
class _FakeSession:
    node: FakeNode
    request: WorkloadRequest
    whole_plot: str = ""

    def trial(self, configuration: Configuration) -> TrialResult:
        if configuration.whole_plot != self.whole_plot:
            self.node.log.append(f"format {configuration.whole_plot}")
            self.whole_plot = configuration.whole_plot
        return self.node.run(self.request, configuration)

    @contextmanager
    def switched_run(self, configurations: Sequence[Configuration]) -> Iterator[FakeRun]:
        node, request = self.node, self.request
        node.log.append(f"run {request.label}")
        yield FakeRun(
            rate=lambda label: node.mean(request, label),
            responses=lambda label: node.responses.get(label, NO_RESPONSE),
            figures=[figure.name for figure in catalog.get(request.name).figures(request.options)],
            noise=node.noise,
            draw=random.Random(f"{node.seed} {len(node.log)}"),
            telemetry=_telemetry(_MOVED_KB, Disturbance()),
            device=DEVICE,
            label=configurations[0].label,
            fails_after=node.fails_after,
        )


def _machine(disturbance: Disturbance) -> dict[str, float]:
    figures = {"%steal": 100 * disturbance.steal, "%idle": 50.0}
    if disturbance.foreign_cpu is None:
        return figures
    return {**figures, "cores": 2.0, "foreign_%cpu": 200 * disturbance.foreign_cpu}


def _moved(kb: float) -> Mapping[str, float]:
    """Return the counters of a device that was written, and busy for half a second."""
    return defaultdict(float, writes=kb, sectors_written=2 * kb, io_ms=500.0)
