"""A simulated host with one drive, and a trial on it."""

from __future__ import annotations

import hashlib
import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import assert_never

from iostudy._native import DriveModel, SimulatedDisk
from iostudy.errors import TargetError
from iostudy.job import SimulationSetup
from iostudy.prober import BLOCK_BYTES
from iostudy.settings.definitions.volume import PLACEMENTS
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.tick import Tick
from iostudy.workloads.workload import Place, Workload
from iostudy_lab.drives import drive_file, scaling
from iostudy_lab.drives.disk import Disk
from iostudy_lab.drives.flash import Flash
from iostudy_lab.drives.presets import load_drive
from iostudy_lab.simulation.disk import SimulatedFiles, SimulatedMachine
from iostudy_lab.simulation.setup import build_setup
from iostudy_lab.study.target import SimulatedTarget

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
class HostRun:
    """A trial on a host, with the counters of its drive, or of a volume and each drive of it."""

    measured: Measurement
    counters: Mapping[str, float]
    drives: Sequence[Mapping[str, float]] = ()


@dataclass(frozen=True)
class SimulatedHost:
    """A host with the drive of a target, or with a volume over several of them."""

    target: SimulatedTarget
    drive: Disk | Flash = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "drive", self._load_drive(self.target.model))

    def _load_drive(self, model: str) -> Disk | Flash:
        return scaling.scale(load_drive(model), self.target.size_bytes)

    def run(
        self, workload: Workload, settings: Mapping[str, str], *, seed: int, label: str, tick: Tick
    ) -> HostRun:
        """Lay out the files by the seed, then run the workload on the virtual clock.

        The label of the configuration changes start times and processor times only.
        """
        with tempfile.TemporaryDirectory(prefix="iostudy-simulation-") as folder:
            place = Place(Path(folder), seed, tick)
            first_block = self._first_block(workload.space_bytes(), settings, seed)
            files = SimulatedFiles(self.disk(first_block, settings))
            workload.prepare(replace(place, machine=files))
            machine = SimulatedMachine(files, self.setup(settings, derive_seed(seed, label)))
            measured = workload.run(replace(place, machine=machine))
        return HostRun(measured, machine.counters, machine.drives)

    def check(self, settings: Mapping[str, str]) -> None:
        """Try the scheduler and the tunables; ValueError for one that does not exist."""
        self.disk(0, settings).check(self.setup(settings, 0))

    def disk(self, first_block: int, settings: Mapping[str, str]) -> SimulatedDisk:
        """Return an empty disk with files from that block on; ValueError for other volumes."""
        model = DriveModel(drive_file.parameters(self.drive))
        if self.target.volume is None:
            return SimulatedDisk(model, first_block)
        layout = self.target.volume.with_settings(settings)
        volume = simulate_layout(layout, self.target.count)
        stripes, copies, *_ = volume
        # Fewer stripes leave the last drives unused.
        if not self.target.last or stripes * copies < self.target.count:
            return SimulatedDisk(model, first_block, volume)
        last = DriveModel(drive_file.parameters(self._load_drive(self.target.last)))
        return SimulatedDisk(model, first_block, volume, last)

    def alone(self, model: str) -> SimulatedHost:
        """Return the same host with a single drive of that model."""
        return replace(self, target=SimulatedTarget(model, self.target.size_bytes))

    def setup(self, settings: Mapping[str, str], seed: int) -> SimulationSetup:
        """Return host and queue under these settings."""
        rotational = _is_rotational(self.drive)
        return build_setup(settings, rotational=rotational, depth=self.drive.depth, seed=seed)

    def _first_block(self, needed_bytes: int, settings: Mapping[str, str], seed: int) -> int:
        """Return a position at which that much fits on the drive; TargetError if none does."""
        size_bytes = self.target.capacity_bytes(settings)
        free = (size_bytes - needed_bytes) // BLOCK_BYTES
        if free < 0:
            raise TargetError(
                f"room for {needed_bytes} bytes of files",
                found=f"{size_bytes} bytes",
                where=f"a simulated drive {self.target.model}",
                remedy="give a larger size of the drive, or smaller files",
            )
        return random.Random(seed).randrange(free // _ALIGNMENT + 1) * _ALIGNMENT


def simulate_layout(layout: VolumeLayout, count: int) -> tuple[int, int, int, bool]:
    """Return stripes, copies, sectors of a chunk, and whether reads are balanced.

    ValueError for a kind with parity, with copies on every disk or elsewhere than side by side, or
    without stripes over several disks.
    """
    kind = layout.properties
    if kind.parity or kind.copies == 0 or layout.placement != PLACEMENTS[0]:
        raise ValueError(
            f"{layout.kind} has no simulation; use lvm-mirror, lvm-raid10 or md-raid10"
        )
    if not kind.striped and kind.max_members != 1:
        raise ValueError(f"{layout.kind} has no simulation, as it fills one disk after the other")
    stripes = layout.stripes_on(count)
    sectors = layout.stripe_size_bytes // BLOCK_BYTES
    return stripes, kind.copies, sectors, not kind.reads_one_copy


def derive_seed(seed: int, label: str) -> int:
    """Return a seed of its own for each label."""
    digest = hashlib.blake2b(f"{seed} {label}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1
