"""Node without a machine: trials run on a simulated host and drive."""

from __future__ import annotations

import hashlib
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, assert_never

import numpy as np

from iostudy._native import DriveModel, SimulatedDisk
from iostudy.drives import drive_file, scaling
from iostudy.drives.disk import Disk
from iostudy.drives.flash import Flash
from iostudy.drives.presets import load_drive
from iostudy.drives.quantities import BLOCK_BYTES
from iostudy.errors import IostudyError, SettingError, TargetError
from iostudy.job import SimulationSetup
from iostudy.node.free_space import FreeSpace, require_space
from iostudy.node.protocol import SwitchedRun, TrialResult
from iostudy.node.simulated_disk import SimulatedFiles, SimulatedMachine
from iostudy.node.simulated_setup import build_setup
from iostudy.settings import catalog as settings
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.study.requests import apply_configuration
from iostudy.study.targets import SimulatedTarget
from iostudy.telemetry.iostat import compute_iostat_figures
from iostudy.telemetry.recorder import Telemetry
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.workloads import catalog
from iostudy.workloads.tick import Tick
from iostudy.workloads.workload import Place, Workload

DEVICE = "simulated"
NOTE = "predicted: host, scheduler and drive ran on a virtual clock; no host was measured"
_ALIGNMENT = 8
"""Blocks of a page."""


def _is_rotational(drive: Disk | Flash) -> bool:
    match drive:
        case Disk():
            return True
        case Flash():
            return False
        case unreachable:
            assert_never(unreachable)


@dataclass(frozen=True)
class SimulatedNode:
    """Every trial is a simulation. The block's seed places the files on the drive.

    Within a block, trials differ in their configuration and in the seed of start times and
    processor times.
    """

    target: SimulatedTarget
    tick: Tick
    drive: Disk | Flash = field(init=False)

    def __post_init__(self) -> None:
        loaded = load_drive(self.target.model)
        object.__setattr__(self, "drive", scaling.scale(loaded, self.target.size_bytes))

    def offered(self, setting: str, on: Sequence[str] = ()) -> tuple[str, ...]:
        """Return all levels of the setting."""
        del on
        return settings.get(setting).choices

    def preflight(
        self, requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
    ) -> Mapping[str, IostudyError]:
        """Check the space, and try the scheduler and the tunables of every configuration."""
        room = FreeSpace(self.target.describe(), self.target.size_bytes)
        require_space(requests, configurations, room, None)
        refused: dict[str, IostudyError] = {}
        for configuration in configurations:
            try:
                self.disk(0).check(self.setup(configuration, 0))
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
                "drive": self.drive.parameters(),
                "notes": [NOTE],
            },
        }

    @contextmanager
    def block(self, request: WorkloadRequest, seed: int) -> Iterator[_SimulatedBlock]:
        """Place the files of the block on the drive by the seed."""
        with tempfile.TemporaryDirectory(prefix="iostudy-simulation-") as folder:
            yield _SimulatedBlock(self, request, seed, Path(folder))

    def disk(self, first_block: int) -> SimulatedDisk:
        """Return an empty disk whose files begin at that block."""
        return SimulatedDisk(DriveModel(drive_file.parameters(self.drive)), first_block)

    def setup(self, configuration: Configuration, seed: int) -> SimulationSetup:
        """Return host and queue of a configuration."""
        return build_setup(
            configuration.settings,
            rotational=_is_rotational(self.drive),
            depth=self.drive.depth,
            seed=seed,
        )

    def first_block(self, needed_bytes: int, seed: int) -> int:
        """Return a position at which that much fits on the drive; TargetError if none does."""
        free = (self.target.size_bytes - needed_bytes) // BLOCK_BYTES
        if free < 0:
            raise TargetError(
                f"room for {needed_bytes} bytes of files",
                found=f"{self.target.size_bytes} bytes",
                where=self.target.describe(),
                remedy="give a larger size of the drive, or smaller files",
            )
        return random.Random(seed).randrange(free // _ALIGNMENT + 1) * _ALIGNMENT


@dataclass
class _SimulatedBlock:
    node: SimulatedNode
    request: WorkloadRequest
    seed: int
    folder: Path

    def trial(self, configuration: Configuration) -> TrialResult:
        """Lay out the files, then run the workload on the virtual clock."""
        options = apply_configuration(self.request, configuration)
        workload = catalog.get(self.request.name).make(options)
        files = self._prepare(workload)
        setup = self.node.setup(configuration, _derive_seed(self.seed, configuration.label))
        machine = SimulatedMachine(files, setup)
        measured = workload.run(replace(self._place, machine=machine))
        return TrialResult(
            figures=measured.figures,
            settings={f"{name}@{DEVICE}": text for name, text in configuration.settings.items()},
            telemetry=_telemetry(machine.counters),
            devices=(DEVICE,),
            phases={"run": machine.counters["seconds"]},
            notes=(NOTE, *measured.notes),
            latencies=measured.latencies,
            parts=measured.parts,
        )

    def switched_run(
        self, configurations: Sequence[Configuration]
    ) -> AbstractContextManager[SwitchedRun]:
        """Raise AssertionError: simulated studies cannot have this mode."""
        raise AssertionError(configurations)

    @property
    def _place(self) -> Place:
        return Place(self.folder, self.seed, self.node.tick)

    def _prepare(self, workload: Workload) -> SimulatedFiles:
        """Lay out the files that exist before a trial, on a disk of its own."""
        first = self.node.first_block(workload.space_bytes(), self.seed)
        files = SimulatedFiles(self.node.disk(first))
        workload.prepare(replace(self._place, machine=files))
        return files


def _derive_seed(seed: int, label: str) -> int:
    digest = hashlib.blake2b(f"{seed} {label}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


def _telemetry(counters: Mapping[str, float]) -> Telemetry:
    seconds = counters["seconds"]
    figures = compute_iostat_figures(defaultdict(float, counters), seconds)
    own = {"idle_while_queued": counters["idle_ms"] / 10 / seconds, "seeks": counters["seeks"]}
    summary = TelemetrySummary(
        seconds=seconds, devices={DEVICE: {**figures, **own}}, machine={"%steal": 0.0}
    )
    return Telemetry(summary, Samples(np.array([0.0, seconds]), {}))
