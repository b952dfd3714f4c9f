"""MRBench without Hadoop: many tiny jobs in sequence, dominated by start and commit."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, assert_never

from pydantic import Field

from iostudy import _native
from iostudy.durable import replace_whole
from iostudy.errors import WorkloadStoppedError
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.definition import Figure, WorkloadDefinition, fixed_figures
from iostudy.workloads.file_removal import empty, remove
from iostudy.workloads.measurement import Histogram, Measurement
from iostudy.workloads.native.latency import histogram_readings, latency_figures, merge_buckets
from iostudy.workloads.option_types import Count, Options
from iostudy.workloads.tick import Tick, continue_run
from iostudy.workloads.workload import Place, Workload
from iostudy_hadoop.native.mrbench_job import INPUT, JobTimes, MrBenchJob, Shape
from iostudy_hadoop.native.mrbench_task import COMMIT, CREATE, READ

_BLOCK_BYTES = 4096
_OTHER_BLOCKS = 16
_US_PER_SECOND = 1e6


class InputType(StrEnum):
    """The order of the numbers in the input (MRBench: Order)."""

    ASCENDING = "ascending"
    DESCENDING = "descending"
    RANDOM = "random"


class TinyJobOptions(Options):
    """Options of the work of each job."""

    reduces: Annotated[int, Field(ge=1, le=256)] = Field(
        1, description="reduce tasks of a job, after its maps (MRBench: -reduces)"
    )
    input_lines: Annotated[Count, Field(le=1_000_000)] = Field(
        1, description="lines of the input, each a number (MRBench: -inputLines)"
    )
    input_type: InputType = Field(
        InputType.ASCENDING, description="the order of these numbers (MRBench: -inputType)"
    )


class MrbenchOptions(TinyJobOptions):
    """Options of mrbench."""

    jobs: Annotated[int, Field(ge=1, le=10_000)] = Field(
        50, description="number of jobs, one after another (MRBench: -numRuns)"
    )
    maps: Annotated[int, Field(ge=1, le=256)] = Field(
        2, description="map tasks of a job, all at the same time (MRBench: -maps)"
    )
    fsync: bool = Field(
        default=True,
        description="fsync each file, and after a rename its folder, as HDFS's name-node syncs its "
        "log before it answers",
    )


@dataclass(frozen=True)
class Mrbench(Workload):
    """All jobs of a run, on an input that is written once per block."""

    options: MrbenchOptions

    def space_bytes(self) -> int:
        """Return the blocks of files, folders and inodes, and three times the lines.

        Tasks read the lines, pass them on, and write them as output, which stays to the end of a
        run as in MRBench.
        """
        options = self.options
        blocks = 4 * (options.maps + options.reduces) + _OTHER_BLOCKS
        return options.jobs * (blocks * _BLOCK_BYTES + 3 * sum(map(len, _lines(options, seed=0))))

    def expected_seconds(self, bytes_per_second: float) -> float | None:
        """Unknown: starting and committing is no matter of bytes."""
        return None

    def preparation(self) -> str:
        """Trials with the same input share it."""
        return f"{self.options.input_lines} {self.options.input_type}"

    def prepare(self, place: Place) -> None:
        """Write the input."""
        with _core_errors(place):
            place.run(WriteInput(self._jobs(place)))

    def reset(self, place: Place) -> None:
        """Remove all but the input."""
        kept = (place.directory / INPUT).parent
        with _core_errors(place):
            for path in place.directory.iterdir():
                if path != kept:
                    remove(path)

    def run(self, place: Place) -> Measurement:
        """Run all jobs; each has to give the sorted input."""
        with _core_errors(place):
            times = place.run(self._jobs(place))
        return _measured([JobTimes(*time) for time in times])

    def unsteady_reason(self) -> str:
        """It ends with its work."""
        return "it is a series of short jobs that start processes and end"

    def clean(self, place: Place) -> None:
        """Remove input, output and what a job that failed has left."""
        empty(place.directory)

    def _jobs(self, place: Place) -> MrBenchJobs:
        options = self.options
        lines = tuple(_lines(options, place.seed))
        shape = Shape(
            place.directory, options.maps, options.reduces, options.fsync, lines, place.account
        )
        return MrBenchJobs(shape, options.jobs)


def _lines(options: MrbenchOptions, seed: int) -> Iterator[bytes]:
    """Numbers with leading zeros to the width of ``input_lines``, as MRBench makes them."""
    count = options.input_lines
    numbers: Sequence[int] | Iterator[int]
    match options.input_type:
        case InputType.ASCENDING:
            numbers = range(count)
        case InputType.DESCENDING:
            numbers = range(count, 0, -1)
        case InputType.RANDOM:
            drawn = random.Random(seed)
            numbers = (drawn.getrandbits(64) - (1 << 63) for _ in range(count))
        case unreachable:
            assert_never(unreachable)
    width = len(str(count))
    return (str(number).rjust(width, "0").encode() + b"\n" for number in numbers)


def _core_errors(place: Place) -> AbstractContextManager[None]:
    return translate_core_errors("to run the jobs", place.directory)


def _measured(times: Sequence[JobTimes]) -> Measurement:
    walls = [time.wall_seconds for time in times]
    starts = [seconds for time in times for seconds in time.starts_seconds]
    operations = [operation for time in times for operation in time.operations]
    busy = sum(time.busy_seconds for time in times)
    histograms = {"job": histogram(walls)} | {
        kind: histogram([seconds for name, seconds in operations if name == kind])
        for kind in (CREATE, COMMIT, READ)
    }
    commits = [seconds for name, seconds in operations if name == COMMIT]
    figures = {
        "job_time": statistics.fmean(walls),
        **spread(walls),
        "task_start": statistics.fmean(starts),
        "start_share": 100 * sum(starts) / busy,
        "storage_share": 100 * sum(seconds for _, seconds in operations) / busy,
        **histogram_readings(histograms[COMMIT], max(commits) * _US_PER_SECOND, "commit"),
    }
    return Measurement(figures, histograms)


def spread(all_seconds: Sequence[float]) -> dict[str, float]:
    """Readings of SPREAD, of the seconds that each job took."""
    return {
        "job_time_median": statistics.median(all_seconds),
        "job_time_min": min(all_seconds),
        "job_time_max": max(all_seconds),
    }


def histogram(all_seconds: Sequence[float]) -> Histogram:
    """Return the histogram of times in seconds."""
    return merge_buckets((seconds * _US_PER_SECOND, 1) for seconds in all_seconds)


SPREAD = (
    Figure("job_time_median", "s", "median time of a job", False),
    Figure("job_time_min", "s", "time of the fastest job", False),
    Figure("job_time_max", "s", "time of the slowest job", False),
)
"""Spread of the jobs of a trial, in addition to their mean."""

MRBENCH = WorkloadDefinition(
    name="mrbench",
    models="MRBench: tiny jobs one after another, each with its processes and its commit. A job "
    "has staging files, a process for every task, and output that is committed by rename "
    "(FileOutputCommitter, version 1)",
    not_modelled="HDFS and YARN with their replication, network, scheduling and heartbeats, job "
    "jars, and the JVM: a task is a Python process, which starts in a fraction of the time. Bytes "
    "are not reported, because the file system's journal moves more than the jobs do. Therefore "
    "foreign I/O is not detected",
    source="Apache Hadoop, org.apache.hadoop.mapred.MRBench (hadoop-mapreduce-client-jobclient), "
    "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter",
    options=MrbenchOptions,
    figures=fixed_figures(
        Figure("job_time", "s", "mean time of a job, as MRBench reports it", False),
        *SPREAD,
        Figure("task_start", "s", "mean time from starting a process to its first line", False),
        Figure("start_share", "%", "share of the tasks' time in starting their processes", False),
        Figure("storage_share", "%", "share of the tasks' time in files and renames", False),
        *latency_figures("a commit: a rename, durable with fsync", "commit"),
    ),
    example={"jobs": 5},
    make=Mrbench,
    concurrency_options=("maps",),
    can_be_simulated=True,
)


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

    def model(self) -> _native.MrBenchModel:
        """Return the model of these jobs for a simulated disk."""
        shape = self.shape
        return _native.MrBenchModel(
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

    def model(self) -> _native.MrBenchModel:
        """Return the model of the jobs: no time passes until its files exist."""
        return self.jobs.model()
