"""Hadoop's MRBench: many tiny jobs one after another on a real cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from iostudy.errors import WorkloadError
from iostudy.workloads.definition import Figure, WorkloadDefinition, fixed_figures
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.workload import Place
from iostudy_hadoop.client import Client
from iostudy_hadoop.native.mrbench import SPREAD, TinyJobOptions, histogram, spread
from iostudy_hadoop.shell import Shell
from iostudy_hadoop.tools import mrbench
from iostudy_hadoop.tools.mrbench import MRBenchResult, MRBenchRun
from iostudy_hadoop.tools.results import NoResultError
from iostudy_hadoop.workloads import counter_figures, job
from iostudy_hadoop.workloads.job import HadoopOptions, HadoopRun, HadoopWorkload

_DISK_BLOCK_BYTES = 4096
_FILES_OF_A_JOB = 16


class HadoopMRBenchOptions(TinyJobOptions, HadoopOptions):
    """Options of hadoop.mrbench."""

    jobs: Annotated[int, Field(ge=1, le=1000)] = Field(
        10, description="number of jobs, one after another (MRBench: -numRuns)"
    )
    maps: Annotated[int, Field(ge=1, le=256)] = Field(
        2,
        description="map tasks of a job (MRBench: -maps). For Hadoop this is a hint: its local "
        "runner always uses one, and a note says so",
    )


@dataclass(frozen=True)
class HadoopMRBench(HadoopWorkload):
    """All jobs of a trial are one run of MRBench, which creates and removes its input."""

    options: HadoopMRBenchOptions

    def space_bytes(self) -> int:
        """Input and output, and blocks for what a job leaves in HDFS and in its staging folder."""
        options = self.options
        lines = options.input_lines * (len(str(options.input_lines)) + 1)
        files = _FILES_OF_A_JOB + 2 * options.maps + options.reduces
        return lines + options.jobs * (lines + files * _DISK_BLOCK_BYTES)

    def run(self, place: Place) -> Measurement:
        """Run all jobs."""
        options, client = self.options, job.require_client(place)
        wanted = MRBenchRun(
            options.jobs,
            maps=options.maps,
            reduces=options.reduces,
            input_lines=options.input_lines,
            input_type=options.input_type,
        )
        arguments = wanted.arguments(_folder(client))
        ran = job.run_program(place, mrbench.MAIN_CLASS, *arguments, limit_seconds=options.limit)
        result = _result(ran, options.jobs)
        seconds = [milliseconds / 1000 for milliseconds in result.job_milliseconds]
        figures = {
            "job_time": result.mean_milliseconds / 1000,
            **spread(seconds),
            **counter_figures.read_task_figures(ran),
        }
        return Measurement(figures, {"job": histogram(seconds)}, notes=_notes(ran, options.maps))

    def clean(self, place: Place) -> None:
        """Remove the HDFS folder, in which a run that failed may have left something."""
        client = job.require_client(place)
        Shell.for_client(client).remove(_folder(client))


def _folder(client: Client) -> str:
    return f"{client.folder}/mrbench"


def _result(ran: HadoopRun, jobs: int) -> MRBenchResult:
    try:
        return mrbench.parse(ran.ended.stdout.text, jobs)
    except NoResultError as error:
        raise WorkloadError(
            f"the times of {jobs} jobs of MRBench",
            found=str(error),
            where=str(ran.ended.program),
            remedy="run it by hand, and see what it prints",
        ) from error


def _notes(ran: HadoopRun, maps: int) -> tuple[str, ...]:
    numbers = sorted({entry.maps for entry in ran.jobs if entry.maps not in (None, maps)})
    if not numbers:
        return ()
    counts = " or ".join(map(str, numbers))
    return (
        f"a job had {counts} map tasks instead of the requested {maps}: to Hadoop that is a hint",
    )


HADOOP_MRBENCH = WorkloadDefinition(
    name="hadoop.mrbench",
    models="MRBench: tiny jobs one after another, dominated by start and commit. Hadoop itself "
    "submits, schedules, runs and commits each, on YARN or in its local runner",
    not_modelled="bytes: the NameNode's journal and the staging of jobs move more than the jobs "
    "do, so foreign I/O cannot be detected. A job's time ends at the client's next poll: "
    f"every tenth of a second here, every second in MRBench itself ({job.POLL})",
    source="Apache Hadoop 3.4.2, org.apache.hadoop.mapred.MRBench "
    "(hadoop-mapreduce-client-jobclient)",
    options=HadoopMRBenchOptions,
    figures=fixed_figures(
        Figure("job_time", "s", "mean time of a job, as MRBench prints it (AvgTime)", False),
        *SPREAD,
        *counter_figures.TASK_FIGURES,
    ),
    example={"jobs": 2},
    make=HadoopMRBench,
    service="hadoop",
)
