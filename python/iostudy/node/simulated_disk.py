"""Jobs and files on a simulated disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from iostudy._native import EventJobs, FileJob, SimulatedDisk
from iostudy.errors import WorkloadError
from iostudy.job import SimulationSetup
from iostudy.workloads.workload import NativeJob, Outcome, Tick


@dataclass(frozen=True)
class SimulatedFiles:
    """The files of a simulated disk, without any time."""

    disk: SimulatedDisk

    def run(self, job: NativeJob[Outcome], tick: Tick) -> Outcome:
        """Lay out the files of a job that prepares them; it has no measurements."""
        del tick
        assert isinstance(job, FileJob), job
        try:
            self.disk.lay_out(job)
        except ValueError as error:
            raise _refusal(error) from error
        return cast("Outcome", None)

    def size(self, path: Path) -> int:
        """Return the size of a file in bytes; OSError if it is missing."""
        size = self.disk.size(str(path))
        if size is None:
            raise FileNotFoundError(f"{path} is not on the simulated disk")
        return size


@dataclass
class SimulatedMachine:
    """Runs jobs on a simulated disk; ``counters`` are those of the disk in the last one."""

    files: SimulatedFiles
    setup: SimulationSetup
    counters: Mapping[str, float] = field(default_factory=dict)

    def run(self, job: NativeJob[Outcome], tick: Tick) -> Outcome:
        """Run a job on the virtual clock. WorkloadError for one that cannot be simulated."""
        assert isinstance(job, FileJob | EventJobs), job
        try:
            outcome, counters = self.files.disk.run(job, self.setup, tick)
        except ValueError as error:
            raise _refusal(error) from error
        self.counters = dict(counters)
        return cast("Outcome", outcome)

    def size(self, path: Path) -> int:
        """Return the size of a file in bytes; OSError if it is missing."""
        return self.files.size(path)


def _refusal(error: ValueError) -> WorkloadError:
    return WorkloadError(
        "a run that can be simulated",
        found=str(error),
        where="the simulated disk",
        remedy="give smaller files or a larger drive, and options that docs/simulator.md names",
    )
