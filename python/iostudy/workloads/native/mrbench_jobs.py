"""All jobs of a run of mrbench, and their input, on this machine or on a simulated disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from iostudy._native import MrBenchModel
from iostudy.durable import replace_whole
from iostudy.errors import WorkloadStoppedError
from iostudy.workloads.native.mrbench_job import INPUT, JobTimes, MrBenchJob, Shape
from iostudy.workloads.tick import Tick, continue_run


@dataclass(frozen=True)
class MrBenchJobs:
    """All jobs of a run."""

    shape: Shape
    count: int

    def run(self, tick: Tick | None = None) -> list[JobTimes]:
        """Run them one after another."""
        return [
            MrBenchJob(self.shape, number, self._asking(tick or continue_run, number)).run()
            for number in range(self.count)
        ]

    def model(self) -> MrBenchModel:
        """Return the model of these jobs for a simulated disk."""
        shape = self.shape
        return MrBenchModel(
            str(shape.directory),
            jobs=self.count,
            maps=shape.maps,
            reduces=shape.reduces,
            fsync=shape.sync,
            input_bytes=sum(map(len, shape.lines)),
        )

    def _asking(self, tick: Tick, done: int) -> Callable[[], None]:
        def ask() -> None:
            if not tick(done):
                raise WorkloadStoppedError(
                    "to run all jobs",
                    found=f"it was stopped after {done} of them",
                    where=str(self.shape.directory),
                )

        return ask


@dataclass(frozen=True)
class WriteInput:
    """Writes the input of the jobs."""

    jobs: MrBenchJobs

    def run(self, tick: Tick | None = None) -> None:
        """Write it."""
        del tick
        path = self.jobs.shape.directory / INPUT
        path.parent.mkdir(parents=True)
        replace_whole(path, b"".join(self.jobs.shape.lines))

    def model(self) -> MrBenchModel:
        """Return the model of the jobs: no time passes until its files exist."""
        return self.jobs.model()
