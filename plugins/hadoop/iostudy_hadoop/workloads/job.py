"""Runs a Hadoop program with a time limit, ends all of its jobs, and reads their counters.

The client's site files give each job the client's tag (mapreduce.job.tags). That tag alone finds
the job in YARN when it must be killed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field

from iostudy.errors import ClusterError, IostudyError, UsageError, WorkloadError
from iostudy.units import format_rounded_size, format_size
from iostudy.workloads.definition import Figure
from iostudy.workloads.external import program
from iostudy.workloads.external.program import Program, ProgramResult
from iostudy.workloads.option_types import Options, Seconds
from iostudy.workloads.tick import Tick
from iostudy.workloads.workload import Place, Workload
from iostudy_hadoop.client import Client
from iostudy_hadoop.conf.folder import LOGGING
from iostudy_hadoop.shell import Shell
from iostudy_hadoop.tools import counters
from iostudy_hadoop.tools.counters import Job, NoCountersError

POLL = "mapreduce.client.progressmonitor.pollinterval"
"""The interval at which a client polls its job: the resolution of a job's time."""

_POLL_MS = 100
_ALIVE_EVERY_SECONDS = 1.0
_EXCEPTION = re.compile(
    r"^(?:Exception in thread|Caused by: |Error: |[\w.$]+(?:Exception|Error)(?::|$)).*",
    re.MULTILINE,
)
_MOST_EXCEPTIONS = 3
_MOST_CHARACTERS = 300

JOB_TIME = Figure(
    "job_time",
    "s",
    "from a job's submission to its end, with a resolution of a tenth of a second",
    False,
)
PROGRAM_TIME = Figure("program_time", "s", "from the start of the program's Java to its end", False)


class HadoopOptions(Options):
    """Options of every workload on a cluster."""

    limit: Seconds = Field(
        3600.0,
        gt=0,
        description="time limit: the program and its jobs are then killed, and the trial fails",
    )


class HadoopWorkload(Workload):
    """Base of the workloads on a cluster."""

    def unsteady_reason(self) -> str:
        """It ends with its work."""
        return "a job of Hadoop starts tasks, moves its data once and ends"

    def expected_seconds(self, bytes_per_second: float) -> float | None:
        """Unknown: to start Java and tasks takes longer than the bytes of a small job."""
        return None


@dataclass(frozen=True)
class HadoopRun:
    """A program that came to its end, and the jobs that it ran, none of which is unsound."""

    ended: ProgramResult
    jobs: tuple[Job, ...]

    def times(self) -> dict[str, float]:
        """JOB_TIME, of several jobs the sum, and PROGRAM_TIME; WorkloadError if a job has none."""
        times = [job.seconds for job in self.jobs if job.seconds]
        if not times or len(times) < len(self.jobs):
            raise WorkloadError(
                "the time of every job",
                found=f"{len(self.jobs)} jobs, of which {len(times)} have one",
                where=str(self.ended.program),
                remedy="run it by hand, and see what its log says",
            )
        return {JOB_TIME.name: sum(times), PROGRAM_TIME.name: self.ended.wall_seconds}


def require_client(place: Place) -> Client:
    """Return the client of a place; UsageError without a cluster."""
    if not isinstance(place.service, Client):
        raise UsageError(
            "a Hadoop cluster",
            found="none: neither the study nor the command line names one",
            where=str(place.directory),
            remedy="write a `hadoop` section into the study file",
        )
    return place.service


def run_program(
    place: Place,
    main_class: str,
    *arguments: str,
    limit_seconds: float,
    opened: Path | None = None,
) -> HadoopRun:
    """Run a main class of Hadoop to its end, with the jobs that it submits.

    ``opened`` is its standard input. A program of root's own cluster is another user in another
    mount namespace, and reaches no folder of the trial by its path.

    WorkloadError if it fails, exceeds its time, has an invalid job, or its counters cannot be
    read. WorkloadStoppedError if the tick requests it. ClusterError as soon as the cluster has
    failed. In all these cases, and at a signal, its YARN applications are killed afterwards, or
    the error says that this failed.
    """
    client = require_client(place)
    requested = replace(_program(client, main_class, arguments, limit_seconds), opened=opened)
    with _killed_on_failure(client):
        ended = program.run(requested, _watching(client, place.tick))
        # Programs of Hadoop's end before the cluster is known to be at fault.
        if ended.status:
            client.require_alive()
        ended.require_success(find_exceptions(ended.stderr.text))
    return HadoopRun(ended, _sound_jobs(ended))


def find_exceptions(log: str) -> str:
    """The first exceptions of a log, each once: what comes later follows from them."""
    exceptions = list(dict.fromkeys(_EXCEPTION.findall(log)))
    return " / ".join(line[:_MOST_CHARACTERS] for line in exceptions[:_MOST_EXCEPTIONS])


def _program(
    client: Client, main_class: str, arguments: tuple[str, ...], limit_seconds: float
) -> Program:
    """Return the program; it logs to stderr, with times in UTC and decimal points.

    TestDFSIO otherwise formats numbers in the user's locale.
    """
    options = (
        *client.java_options,
        f"-Dlog4j.configuration={(client.conf / LOGGING).as_uri()}",
        "-Duser.timezone=UTC",
    )
    command = replace(client, java_options=options).command(
        main_class, f"-D{POLL}={_POLL_MS}", *arguments
    )
    return Program(command, client.scratch, limit_seconds, client.environment())


def _watching(client: Client, tick: Tick) -> Tick:
    """The tick, which also ends the run when the cluster has failed."""
    ask_at = time.monotonic()

    def watch(done: int) -> bool:
        nonlocal ask_at
        if time.monotonic() >= ask_at:
            client.require_alive()
            ask_at = time.monotonic() + _ALIVE_EVERY_SECONDS
        return tick(done)

    return watch


def _sound_jobs(ended: ProgramResult) -> tuple[Job, ...]:
    """Return the jobs of a successful program; WorkloadError if any is invalid."""
    try:
        jobs = counters.parse(_whole_log(ended))
    except NoCountersError as error:
        raise WorkloadError(
            "the counters of every job",
            found=str(error),
            where=str(ended.program),
            remedy="run it by hand, and see what its log has where they should be",
        ) from error
    reasons = counters.describe_problems(jobs)
    if reasons:
        raise WorkloadError(
            "a run in which every task runs once, and none fails",
            found="; ".join(reasons),
            where=str(ended.program),
            remedy="it is invalid: other runs do not do this work. See the logs of the tasks and "
            "daemons; mapreduce.map.speculative and mapreduce.reduce.speculative = false keep "
            "YARN from running a task twice",
        )
    return jobs


def _whole_log(ended: ProgramResult) -> str:
    """Return the log; WorkloadError if its beginning is lost, because jobs would be missed."""
    log = ended.stderr
    if not log.lost_bytes:
        return log.text
    raise WorkloadError(
        f"a log of at most {format_size(program.KEPT_BYTES)}, which contains all jobs",
        found=f"{format_rounded_size(log.lost_bytes)} more",
        where=str(ended.program),
        remedy="give it fewer jobs, or fewer tasks",
    )


@contextmanager
def _killed_on_failure(client: Client) -> Iterator[None]:
    """Kill the YARN applications on failure, because they outlive their client."""
    try:
        yield
    except BaseException as error:
        trouble = _kill_all(client)
        if trouble and isinstance(error, IostudyError):
            error.found += f"; {trouble}"
        elif trouble:
            error.add_note(trouble)
        raise


def _kill_all(client: Client) -> str:
    """Kill what carries the client's tag; why that was not possible, empty if it was."""
    try:
        if client.yarn:
            Shell.for_client(client).kill_jobs(client.tag)
    except ClusterError as error:
        return f"and {error.wanted} was not possible: {error.found}"
    return ""
