"""A node without a machine: figures drawn from a seeded model, faults where a script says so."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from iostudy.errors import IostudyError
from iostudy.node.protocol import TrialResult
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.telemetry.iostat import device_figures
from iostudy.telemetry.recorder import Telemetry
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.workloads import catalog
from iostudy.workloads.definition import BYTES

DEVICE = "fake0"
_MOVED_KB = 64.0 * 1024


@dataclass(frozen=True)
class Disturbance:
    """What a trial suffers: an error it ends with, or disturbances as shares.

    ``foreign_cpu`` is a share of the CPU time of both cores; None: not known.
    """

    error: BaseException | None = None
    foreign_io: float = 0.0
    steal: float = 0.0
    foreign_cpu: float | None = None


@dataclass
class FakeNode:
    """Every trial gives ``base * (1 + effect) * exp(noise)`` as its verdict figure.

    ``effects`` are fractions by configuration label, or by (workload, configuration); ``noise``
    is the standard deviation of the logarithm; ``script`` maps the number of a trial, from 0 in
    the order of calls, to a Disturbance; ``refuses`` are configurations that it cannot carry out,
    with the reason. ``log`` keeps what was asked, in order.
    """

    effects: Mapping[str | tuple[str, str], float] = field(default_factory=dict)
    noise: float = 0.02
    seed: int = 0
    base: float = 1000.0
    script: Mapping[int, Disturbance] = field(default_factory=dict)
    refuses: Mapping[str, IostudyError] = field(default_factory=dict)
    levels: tuple[str, ...] = ("none", "mq-deadline", "kyber", "bfq")
    log: list[str] = field(default_factory=list)
    _trials: int = 0

    def offered(self, setting: str, on: Sequence[str] = ()) -> tuple[str, ...]:
        """The same levels for every setting everywhere."""
        return self.levels

    def preflight(
        self, requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
    ) -> Mapping[str, IostudyError]:
        """Log it, and refuse as the script says."""
        self.log.append("preflight")
        labels = [configuration.label for configuration in configurations]
        return {label: error for label, error in self.refuses.items() if label in labels}

    def circumstances(self) -> Mapping[str, Any]:
        """A host that says what it is."""
        return {"host": "fake", "target": {"device": DEVICE}}

    @contextmanager
    def block(self, request: WorkloadRequest, seed: int) -> Iterator[_FakeSession]:
        """Log the begin and the end of the block."""
        self.log.append(f"prepare {request.label}")
        try:
            yield _FakeSession(self, request)
        finally:
            self.log.append(f"clean {request.label}")

    def run(self, request: WorkloadRequest, configuration: Configuration) -> TrialResult:
        """One trial, as the model and the script have it."""
        number, self._trials = self._trials, self._trials + 1
        disturbance = self.script.get(number, Disturbance())
        self.log.append(f"trial {request.label} {configuration.label}")
        if disturbance.error is not None:
            raise disturbance.error
        return self._result(request, configuration, number, disturbance)

    def _result(
        self,
        request: WorkloadRequest,
        configuration: Configuration,
        number: int,
        disturbance: Disturbance,
    ) -> TrialResult:
        label = configuration.label
        effect = self.effects.get((request.label, label), self.effects.get(label, 0.0))
        deviation = random.Random(f"{self.seed} {number}").gauss(0.0, self.noise)
        value = self.base * (1 + effect) * math.exp(deviation)
        moved_kb = _MOVED_KB * (1 + disturbance.foreign_io)
        known = catalog.get(request.name).figures(request.options)
        figures = {figure.name: value for figure in known} | {BYTES: _MOVED_KB * 1024}
        seen = TelemetrySummary(
            seconds=1.0,
            devices={DEVICE: device_figures(_moved(moved_kb), 1.0)},
            machine=_machine(disturbance),
        )
        telemetry = Telemetry(seen, Samples(np.array([0.0, 1.0]), {}))
        settings = {f"{name}@{DEVICE}": value for name, value in configuration.settings.items()}
        return TrialResult(figures, settings, telemetry, (DEVICE,), {"run": 1.0}, ())


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


def _machine(disturbance: Disturbance) -> dict[str, float]:
    known = {"%steal": 100 * disturbance.steal, "%idle": 50.0}
    if disturbance.foreign_cpu is None:
        return known
    return {**known, "cores": 2.0, "foreign_%cpu": 200 * disturbance.foreign_cpu}


def _moved(kb: float) -> Mapping[str, float]:
    """The counters of a device that was written to, and busy, for half a second."""
    return defaultdict(float, writes=kb, sectors_written=2 * kb, io_ms=500.0)
