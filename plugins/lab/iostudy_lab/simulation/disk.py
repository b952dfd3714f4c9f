"""Jobs and files on a simulated disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from iostudy._native import SimulatedDisk, StoppedError, TraceReplay, TraceReplayResult
from iostudy.errors import WorkloadError
from iostudy.job import SimulationSetup
from iostudy.workloads.concurrent_runs import CompletedRun, ConcurrentRun
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.tick import Tick, continue_run
from iostudy.workloads.workload import ModelledJob, NativeJob, Outcome

if TYPE_CHECKING:
    from iostudy._native import SimulatedJob, SimulatedRounds


class _JobFoundError(Exception):
    """Ends the run of a workload whose job was looked for."""

    def __init__(self, job: SimulatedJob) -> None:
        super().__init__("the job was found")
        self.job = job


@dataclass(frozen=True)
class SimulatedFiles:
    """The files of a simulated disk, without any time."""

    disk: SimulatedDisk

    def run(self, job: NativeJob[Outcome], tick: Tick) -> Outcome:
        """Lay out the files of a job that prepares them."""
        del tick
        try:
            return cast("Outcome", self.disk.lay_out(_model(job)))
        except ValueError as error:
            raise _refusal(error) from error

    def run_concurrently(
        self,
        first: ConcurrentRun,
        others: Sequence[ConcurrentRun],
        tick: Tick,
        *,
        repeat_others: bool,
    ) -> bool:
        """Raise AssertionError: no workload prepares its files while others do."""
        raise AssertionError((first, others, tick, repeat_others))

    def size(self, path: Path) -> int:
        """Return the size of a file in bytes; OSError if it is missing."""
        size = self.disk.size(str(path))
        if size is None:
            raise FileNotFoundError(f"{path} is not on the simulated disk")
        return size


@dataclass
class SimulatedMachine:
    """Runs jobs on a simulated disk; ``counters`` are those of the disk in the last run.

    ``drives`` are the counters of each drive of a volume.
    ``answer`` takes the place of the disk while the job of a workload is looked for, and while
    workloads get the results of jobs that ran together.
    """

    files: SimulatedFiles
    setup: SimulationSetup
    counters: Mapping[str, float] = field(default_factory=dict)
    drives: Sequence[Mapping[str, float]] = ()
    answer: Callable[[SimulatedJob], Any] | None = None

    def run(self, job: NativeJob[Outcome], tick: Tick) -> Outcome:
        """Run a job on the virtual clock. WorkloadError for one that cannot be simulated."""
        if isinstance(job, TraceReplay):
            return cast("Outcome", self._replay(job, tick))
        model = _model(job)
        if self.answer is not None:
            return cast("Outcome", self.answer(model))
        [(rounds, _)] = self._run_jobs([model], tick, repeat_others=False)
        [(outcome, *_)] = rounds
        return cast("Outcome", outcome)

    def run_concurrently(
        self,
        first: ConcurrentRun,
        others: Sequence[ConcurrentRun],
        tick: Tick,
        *,
        repeat_others: bool,
    ) -> bool:
        """Run the jobs of all workloads on one virtual clock; False if the tick stopped them."""
        players = (first, *others)
        jobs = [self._find_job(player) for player in players]
        try:
            results = self._run_jobs(jobs, tick, repeat_others=repeat_others)
        except StoppedError:
            return False
        for player, result in zip(players, results, strict=True):
            self._report(player, result)
        return True

    def size(self, path: Path) -> int:
        """Return the size of a file in bytes; OSError if it is missing."""
        return self.files.size(path)

    def _run_jobs(
        self, jobs: Sequence[SimulatedJob], tick: Tick, *, repeat_others: bool
    ) -> list[SimulatedRounds]:
        try:
            results, counters, drives = self.files.disk.run(
                jobs, self.setup, repeat_others=repeat_others, tick=tick
            )
        except ValueError as error:
            raise _refusal(error) from error
        self.counters, self.drives = dict(counters), tuple(map(dict, drives))
        return results

    def _replay(self, replay: TraceReplay, tick: Tick) -> TraceReplayResult:
        try:
            result, counters = self.files.disk.replay_trace(replay, self.setup, tick)
        except ValueError as error:
            raise _refusal(error) from error
        self.counters = dict(counters)
        return result

    def _find_job(self, player: ConcurrentRun) -> SimulatedJob:
        def find(job: SimulatedJob) -> Any:
            raise _JobFoundError(job)

        try:
            self._run_answered(player, find)
        except _JobFoundError as signal:
            return signal.job
        raise AssertionError("a workload that can be simulated runs a job")

    def _report(self, player: ConcurrentRun, simulated: SimulatedRounds) -> None:
        """Give a workload the rounds of its job, for its own figures."""
        rounds, stopped = simulated
        for outcome, began, ended in rounds:
            measured = self._run_answered(player, partial(_return, outcome))
            player.rounds.append(CompletedRun(measured, ended))
            player.spans.append((began, ended))
        if stopped is not None:
            began, player.cut_off = stopped
            player.spans.append((began, self.counters["seconds"]))

    def _run_answered(
        self, player: ConcurrentRun, answer: Callable[[SimulatedJob], Any]
    ) -> Measurement:
        self.answer = answer
        try:
            return player.run(continue_run)
        finally:
            self.answer = None


def _model(job: NativeJob[Any]) -> SimulatedJob:
    return job.model() if isinstance(job, ModelledJob) else cast("SimulatedJob", job)


def _return(outcome: Any, job: SimulatedJob) -> Any:
    del job
    return outcome


def _refusal(error: ValueError) -> WorkloadError:
    return WorkloadError(
        "a run that can be simulated",
        found=str(error),
        where="the simulated disk",
        remedy="give smaller files or a larger drive, and options that docs/simulator.md names",
    )
