"""Workload that runs the jobs of a fio job file on the target."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer

from iostudy.errors import WorkloadError
from iostudy.units import format_seconds
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.definition import Figure, WorkloadDefinition, fixed_figures
from iostudy.workloads.external import fio_job, fio_report, program
from iostudy.workloads.external.device_windows import steady_program
from iostudy.workloads.external.fio_job import JobFile
from iostudy.workloads.external.fio_report import FioReport, NoReportError
from iostudy.workloads.external.program import Program, ProgramResult
from iostudy.workloads.file_removal import empty
from iostudy.workloads.measurement import BYTES, Measurement
from iostudy.workloads.option_types import Options, Seconds, format_assignments, parse_assignments
from iostudy.workloads.page_cache import drop_folder
from iostudy.workloads.windows import SteadyRun
from iostudy.workloads.workload import Place, TargetPaths, Workload

_MS = 1000
_INSTALL = "apt-get install fio, or dnf install fio"


_NAME = re.compile("[a-z][a-z0-9_]*")
_FLAGS = {"true": "1", "false": "0"}
_GRACE_SECONDS = 30.0
"""For the layout and the report of jobs that end at the limit."""


def _override(value: Any) -> dict[str, str]:
    """Parameters by name; ValueError for one that a job file could not have in a line."""
    return {name: _parameter(name, text) for name, text in parse_assignments(value).items()}


def _parameter(name: str, given: str) -> str:
    text = _FLAGS.get(given, given)
    if not _NAME.fullmatch(name) or name in ("name", "include"):
        raise ValueError(f"{name} is no parameter of a job; see JOB FILE PARAMETERS in fio(1)")
    if not text or not text.isprintable() or any(sign in text for sign in ";#"):
        raise ValueError(f"{name}={text} does not fit in a line of a job file (no ; and no #)")
    return text


Override = Annotated[
    dict[str, str],
    BeforeValidator(_override, json_schema_input_type=dict[str, str | float | bool] | str),
    PlainSerializer(format_assignments, return_type=str, when_used="json"),
]
"""Parameters of fio by name; reports show them as a text, which a level of a factor can be."""


class FioOptions(Options):
    """Options of fio."""

    job: str = Field(
        min_length=1,
        description="path of a job file, relative to the working directory of iostudy; the name of "
        "a bundled one, such as random-read.fio; or the text of a job file, in several lines",
    )
    override: Override = Field(
        {},
        description="parameters of fio that every job gets in place of its own: a mapping such as "
        "{runtime: 10, size: 1g}, or a text such as runtime=10 size=1g",
    )
    limit: Seconds = Field(
        3600.0,
        description="longest time of a job without a runtime of its own: it then ends, and its "
        "rates count. If all jobs have a runtime, fio is killed after this time, and the trial "
        "fails",
    )


@dataclass(frozen=True)
class Fio(Workload):
    """fio, started in the trial's folder: that is where files without a directory are."""

    options: FioOptions

    def space_bytes(self) -> int:
        """Return 0: sizes can depend on the file system (size=80%) and are unknown before."""
        return 0

    def contents(self) -> Iterable[tuple[str, str]]:
        """Return the jobs as fio reads them, with included files."""
        job = self.options.job
        return [("the jobs of the study file" if "\n" in job else job, str(self._job))]

    def check(self) -> None:
        """UsageError if fio is missing, or the job file cannot be run."""
        Program(("fio",), Path("/"), self.options.limit).require_installed(_INSTALL)
        _ = self._job

    def check_target(self, target: TargetPaths) -> None:
        """UsageError for paths outside of the target and for what a study cannot have."""
        fio_job.require_safe(self._job, target)

    def preparation(self) -> str:
        """Trials with the same job file and the same overrides share its files."""
        return self.options.model_dump_json(include={"job", "override"})

    def prepare(self, place: Place) -> None:
        self._make_directories(place)
        if not self._job.changes_files:
            self._lay_out(place)

    def reset(self, place: Place) -> None:
        """Lay out the files of jobs that change them again; drop all files from the page cache.

        These alone, and not the whole page cache: otherwise fio itself would be read in the trial.
        """
        if self._job.changes_files:
            empty(place.directory)
            self._make_directories(place)
            self._lay_out(place)
        drop_folder(place.directory)

    def run(self, place: Place) -> Measurement:
        """Run the jobs once. WorkloadError if any ends with an error."""
        job = self._job
        ended = program.run(self._fio(place, "--output-format=json+"), place.tick)
        ended.require_success()
        report = _report(ended)
        _require_same_jobs(job, report, place.target)
        resources = {
            "exec_time": ended.wall_seconds,
            "cpu_time": ended.user_seconds + ended.system_seconds,
        }
        moved = {} if job.makes_files else {BYTES: float(report.moved_bytes())}
        notes = [f"{report.version}, as: {job}", *report.notes(), *job.notes()]
        if not job.has_runtimes and report.runs_for(self.options.limit):
            limit = format_seconds(self.options.limit)
            notes.append(f"a job did not end by itself and ended at the limit of {limit}")
        return Measurement(
            {**report.figures(job.phases()), **resources, **moved},
            report.histograms(),
            report.parts(),
            notes=tuple(notes),
        )

    def syncs_apart(self) -> bool:
        return any(job.syncs_apart for job in self._job.jobs)

    def unsteady_reason(self) -> str:
        """Jobs one after another, or through the page cache, have no state that lasts."""
        return self._job.unsteady_reason()

    def steady_run(self, place: Place) -> SteadyRun:
        """All jobs with time_based and without an end; the devices' counters measure it."""
        fio_job.require_safe(self._job, place.target)
        text = self._job.endless().text(place.target)
        arguments = ("fio", "--eta=never", "-")
        limit = self.options.limit
        endless = Program(arguments, place.directory, limit, input=text, account=place.account)
        return steady_program(endless, place)

    def clean(self, place: Place) -> None:
        empty(place.directory)

    @cached_property
    def _job(self) -> JobFile:
        return fio_job.read(self.options.job, self.options.override)

    def _make_directories(self, place: Place) -> None:
        job = self._job
        fio_job.require_safe(job, place.target)
        with translate_core_errors("to make the directories of fio's jobs", place.directory):
            for directory in job.directories(place.target):
                (place.directory / directory).mkdir(parents=True, exist_ok=True)

    def _lay_out(self, place: Place) -> None:
        program.run(self._fio(place, "--create_only=1"), place.tick).require_success()

    def _fio(self, place: Place, *arguments: str) -> Program:
        """Fio with a default runtime, which jobs without one of their own take."""
        job, limit = self._job, self.options.limit
        fio_job.require_safe(job, place.target)
        read_only = ("--readonly",) if job.reads_device(place.target) else ()
        default = f"--runtime={max(1, round(limit * _MS))}ms"
        given = ("fio", "--eta=never", default, *read_only, *arguments)
        most = limit if job.has_runtimes else limit * (1 + max(job.phases())) + _GRACE_SECONDS
        text = job.text(place.target)
        return Program((*given, "-"), place.directory, most, input=text, account=place.account)


def _report(ended: ProgramResult) -> FioReport:
    try:
        report = fio_report.parse(ended.stdout.text)
    except NoReportError as error:
        lost = f", but {ended.stdout.lost_bytes} bytes too many" if ended.stdout.lost_bytes else ""
        raise WorkloadError(
            "fio's report as JSON",
            found=f"{error}{lost}; it ends with {ended.stdout.last_lines()!r}",
            where=str(ended.program),
            remedy="run it by hand; where there are many jobs, group_reporting makes it short",
        ) from error
    failures = report.failures()
    if failures:
        raise WorkloadError(
            "every job to end without an error",
            found="; ".join(failures),
            where=str(ended.program),
            remedy="run it by hand, and see what it lacks",
        )
    return report


def _require_same_jobs(job: JobFile, report: FioReport, target: TargetPaths) -> None:
    """WorkloadError if fio reports other jobs, or other parameters, than those requested."""
    requested = job.options(target)
    ran = report.options()
    # With group_reporting, an entry of a group has the parameters of one of its jobs.
    missing = [] if job.groups_reports else [name for name in requested if name not in ran]
    other = [name for name in ran if name not in requested]
    if missing or other or {group for group, _ in ran} != {group for group, _ in requested}:
        raise WorkloadError(
            f"fio to run the jobs of the job file: {missing or requested}",
            found=f"its report has these: {other or ran}",
            where=str(job.path),
            remedy="a value with ;, # or ${} from a variable has another meaning in a job file; "
            "write such values out",
        )


FIO = WorkloadDefinition(
    name="fio",
    models="the jobs of any fio job file",
    not_modelled="job files that name another device or a path outside of the target, replay a "
    "log, change the scheduler or run shell commands: iostudy refuses them, unless `override` "
    "replaces those parameters. Jobs that only read may name the scratch device of the study. "
    "fio verifies data only if the job file says so",
    source="fio(1); https://fio.readthedocs.io",
    options=FioOptions,
    figures=fixed_figures(
        *fio_report.FIGURES,
        Figure("exec_time", "s", "from the start to the end of fio", False),
        Figure("cpu_time", "s", "CPU time of fio in user and kernel mode", False),
        Figure(BYTES, "B", "bytes read and written", True),
    ),
    part_figures=fixed_figures(*fio_report.PART_FIGURES),
    example={"job": "random-read.fio"},
    make=Fio,
    steady_when="with direct=1, for writes overwrite=1, and no job that waits for another "
    "(stonewall, wait_for, startdelay, flow) or adapts its load (latency_target, steadystate); "
    "the jobs repeat, and the bytes of the target's devices are measured",
    window_figures=lambda _: ("bandwidth", "read_bandwidth", "write_bandwidth"),
)
