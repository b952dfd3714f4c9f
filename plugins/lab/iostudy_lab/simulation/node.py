"""Node without a machine: trials run on simulated hosts and drives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Self

import numpy as np

from iostudy.errors import IostudyError, SettingError
from iostudy.node.free_space import FreeSpace, require_space
from iostudy.node.protocol import SwitchedRun, TrialResult
from iostudy.settings import catalog as settings
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.study.requests import apply_configuration
from iostudy.telemetry.iostat import compute_iostat_figures
from iostudy.telemetry.recorder import Telemetry
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.units import MIB
from iostudy.workloads import catalog as workloads
from iostudy.workloads.tick import Tick
from iostudy_lab.simulation.host import HostRun, SimulatedHost
from iostudy_lab.simulation.hosts import HostTask, run_on_hosts, start_processes
from iostudy_lab.study.target import SimulatedTarget

DEVICE = "simulated"
NOTE = "predicted: host, scheduler and drive ran on a virtual clock; no host was measured"

_MEMBER_BYTES = 32 * MIB
_SEQUENTIAL = {"record_size": "1MiB", "direct": True}
_RANDOM = {
    **_SEQUENTIAL,
    "record_size": "4KiB",
    "order": "random",
    "engine": "io_uring",
    "depth": 16,
    "duration": "2s",
}
_WRITE = {"operation": "write", "overwrite": True, "sync": "fsync"}
_MEMBER_RATES: Mapping[str, tuple[Mapping[str, Any], str, int]] = {
    "read_bytes_per_second": (_SEQUENTIAL, "bandwidth", MIB),
    "reads_per_second": (_RANDOM, "iops", 1),
    "write_bytes_per_second": ({**_SEQUENTIAL, **_WRITE}, "bandwidth", MIB),
    "writes_per_second": ({**_RANDOM, **_WRITE}, "iops", 1),
}
"""Rates of a drive alone: options of io, its figure and the unit of that."""


@dataclass
class SimulatedNode:
    """Every trial is a simulation. The block's seed places the files on the drive.

    Within a block, trials differ in their configuration and in the seed of start times and
    processor times. With several hosts each has a seed of its own, and a trial has their means.
    """

    target: SimulatedTarget
    tick: Tick
    host: SimulatedHost = field(init=False)
    _processes: Executor | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.host = SimulatedHost(self.target)

    def __enter__(self) -> Self:
        """Start processes for several hosts."""
        if self.target.hosts > 1:
            self._processes = start_processes()
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes."""
        if self._processes is not None:
            self._processes.shutdown(cancel_futures=True)

    def offered(self, setting: str, on: Sequence[str] = ()) -> tuple[str, ...]:
        """Return all levels of the setting."""
        del on
        return settings.get(setting).choices

    def preflight(
        self, requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
    ) -> Mapping[str, IostudyError]:
        """Check the space, and try the scheduler and the tunables of every configuration."""
        least = min(self.target.capacity_bytes(choice.settings) for choice in configurations)
        room = FreeSpace(self.target.describe(), least)
        require_space(requests, configurations, room, None)
        refused: dict[str, IostudyError] = {}
        for configuration in configurations:
            try:
                self.host.check(configuration.settings)
            except ValueError as error:
                refused[configuration.label] = SettingError(
                    "a scheduler and tunables that can be simulated",
                    found=str(error),
                    where=configuration.label,
                    remedy="leave this level out; docs/simulator.md lists the tunables",
                )
        return refused

    def circumstances(self) -> Mapping[str, Any]:
        """Return versions, the drive's parameters and the host's."""
        return {
            "versions": {"iostudy": version("iostudy")},
            "target": {
                "description": self.target.describe(),
                "devices": [DEVICE],
                "identity": [self.target.model],
                "drive": self.host.drive.parameters(),
                "notes": [NOTE],
                **({"members": self._measure_members()} if self.target.volume else {}),
            },
        }

    def _measure_members(self) -> list[dict[str, Any]]:
        """Return the rates of each drive of a volume alone; equal ones are simulated once."""
        models = self.target.models
        rates = {model: self._measure_alone(model) for model in dict.fromkeys(models)}
        names = drive_names(self.target.count)
        return [{"device": name, **rates[model]} for name, model in zip(names, models, strict=True)]

    def _measure_alone(self, model: str) -> dict[str, float]:
        host, definition = self.host.alone(model), workloads.get("io")
        rates: dict[str, float] = {}
        for name, (options, figure, unit) in _MEMBER_RATES.items():
            size = min(_MEMBER_BYTES, self.target.size_bytes // 2)
            workload = definition.make(definition.options.model_validate({**options, "size": size}))
            figures = host.run(workload, {}, seed=0, label=name, tick=self.tick).measured.figures
            rates[name] = figures[figure] * unit
        return rates

    @contextmanager
    def block(
        self, request: WorkloadRequest, seed: int, round_seed: int = 0
    ) -> Iterator[_SimulatedBlock]:
        """Place the files of the block on the drive by the seed."""
        yield _SimulatedBlock(self, request, seed)

    def run(self, task: HostTask) -> HostRun:
        """Run a trial on all hosts."""
        if self._processes is None:
            return task.run(0, self.tick)
        return run_on_hosts(task, self.target.hosts, self._processes, self.tick)


@dataclass
class _SimulatedBlock:
    node: SimulatedNode
    request: WorkloadRequest
    seed: int

    def trial(self, configuration: Configuration) -> TrialResult:
        """Lay out the files, then run the workload on the virtual clock."""
        options = apply_configuration(self.request, configuration)
        run = self.node.run(
            HostTask(
                self.node.host,
                self.request.name,
                options.model_dump_json(),
                dict(configuration.settings),
                configuration.label,
                self.seed,
            )
        )
        measured, counters = run.measured, run.counters
        return TrialResult(
            figures=measured.figures,
            settings={f"{name}@{DEVICE}": text for name, text in configuration.settings.items()},
            telemetry=_telemetry(counters, run.drives),
            devices=(DEVICE,),
            phases={"run": counters["seconds"]},
            notes=(NOTE, *measured.notes),
            latencies=measured.latencies,
            parts=measured.parts,
        )

    def switched_run(
        self, configurations: Sequence[Configuration]
    ) -> AbstractContextManager[SwitchedRun]:
        """Raise AssertionError: simulated studies cannot have this mode."""
        raise AssertionError(configurations)


def _telemetry(counters: Mapping[str, float], drives: Sequence[Mapping[str, float]]) -> Telemetry:
    """Return the figures of the device; of a volume also those of its drives below."""
    seconds = counters["seconds"]
    # A volume has no seeks and no queue of its own; its drives have.
    devices = {
        DEVICE: _device_figures(counters)
        if len(drives) < 2
        else compute_iostat_figures(defaultdict(float, counters), seconds)
    }
    names = drive_names(len(drives)) if len(drives) > 1 else ()
    devices |= {name: _device_figures(drive) for name, drive in zip(names, drives, strict=False)}
    summary = TelemetrySummary(
        seconds=seconds,
        devices=devices,
        machine={"%steal": 0.0},
        below={DEVICE: names} if names else {},
    )
    return Telemetry(summary, Samples(np.array([0.0, seconds]), {}))


def _device_figures(counters: Mapping[str, float]) -> dict[str, float]:
    seconds = counters["seconds"]
    figures = compute_iostat_figures(defaultdict(float, counters), seconds)
    added = {"idle_while_queued": counters["idle_ms"] / 10 / seconds, "seeks": counters["seeks"]}
    return {**figures, **added}


def drive_names(count: int) -> tuple[str, ...]:
    """Return the names of the drives of a volume."""
    return tuple(f"drive{number}" for number in range(1, count + 1))
