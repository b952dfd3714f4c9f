"""Parameters of a fio job file, as fio itself parses them, and the checks on them.

Names and meanings of the parameters: fio(1), "JOB FILE PARAMETERS".

Syntax: fio(1), "SYNOPSIS". Parameters before the first ``--name`` hold for all jobs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path, PurePosixPath

from iostudy.account import Account
from iostudy.errors import UsageError
from iostudy.safe_path import ROOT_UID, read_named
from iostudy.units import format_size
from iostudy.workloads.external import fio_text, program
from iostudy.workloads.external.fio_text import DIRECTORY, ENGINES
from iostudy.workloads.external.program import Program
from iostudy.workloads.workload import NO_TARGET, TargetPaths

READY_MADE = Path(__file__).parent / "jobs"
_PARSING_SECONDS = 60.0
_PARSER_VARIABLES = frozenset({"PATH", "LD_LIBRARY_PATH"})
"""The variables by which the program fio and its libraries are found."""

_FILENAME = "filename"
_PATH_LISTS = frozenset({_FILENAME, DIRECTORY})
_REMEDIES = {
    _FILENAME: " (override: {filename: data, size: 1g})",
    DIRECTORY: " (override: {directory: .})",
}
_PATHS = frozenset(
    {
        "name",  # a job whose name is that of a device works on it
        "donorname",
        "filename_format",
        "merge_blktrace_file",
        "opendir",
        "replay_redirect",
        "write_bw_log",
        "write_hist_log",
        "write_iolog",
        "write_iops_log",
        "write_lat_log",
    }
)
_MEMORY = frozenset({"mem", "iomem"})
_REFUSED = {
    "ioscheduler": "changes a setting and does not put it back; make block.scheduler a factor",
    "read_iolog": "works on the files that a log names; write the load as jobs",
    "cgroup_nodelete": "leaves a control group behind; leave it out",
    "exec_prerun": "runs a shell command, which may do anything; leave it out",
    "exec_postrun": "runs a shell command, which may do anything; leave it out",
}
_READS_ONLY = frozenset({"read", "randread"})
_MADE_IN_THE_RUN = ("create_on_open", "unlink", "unlink_each_loop")
_OBEYS_DIRECT = frozenset(
    ("sync", "psync", "vsync", "pvsync", "pvsync2", "io_uring", "libaio", "posixaio")
)
_UNSTEADY = {
    "stonewall": "starts after other jobs",
    "wait_for": "starts after another job",
    "startdelay": "starts later than others",
    "latency_target": "changes its depth",
    "steadystate": "ends when its rate is steady",
    "flow": "waits for other jobs",
    "fill_device": "ends when the device is full",
    "create_only": "only makes files",
}
_REMEDY = "take those out of the job file, or override them"
_ENDLESS = {"time_based": "1", "runtime": "30d"}
"""Longer than any study runs one workload."""

_SECTION = re.compile(r"parse +\d+ +Parsing section \[(.*)\]")
_PARAMETER = re.compile(r"parse +\d+ +handle_option=(\w+), ptr=(.*)")
_DEFAULTS = re.compile(r"parse +\d+ +filling default options")
_NO_VALUE = "(null)"


_SYNCS = ("fsync", "fdatasync", "sync_file_range")

Parameter = tuple[str, str | None]
"""Name and value; None without one."""


@dataclass(frozen=True)
class Job:
    """A job with all its parameters, those of [global] among them, by fio's own names."""

    section: str
    parameters: Mapping[str, str | None]
    of_engine: frozenset[str] = frozenset()
    """Names of the parameters that only its engine has."""

    @property
    def reads_only(self) -> bool:
        """Whether it neither writes nor trims."""
        return (self.parameters.get("rw") or "read").partition(":")[0] in _READS_ONLY

    @property
    def syncs_apart(self) -> bool:
        """Whether calls of their own sync its writes, outside of their latencies."""
        return not self.reads_only and any(map(self.has, _SYNCS))

    @property
    def is_direct(self) -> bool:
        """Whether it bypasses the page cache."""
        return self.has("direct") and (self.parameters.get("ioengine", "psync") in _OBEYS_DIRECT)

    @property
    def makes_files(self) -> bool:
        """Whether it creates files while it runs: I/O that fio does not count."""
        return any(map(self.has, _MADE_IN_THE_RUN))

    def has(self, flag: str) -> bool:
        """Whether a flag is set: without a value, or with another than 0 in any notation."""
        return not _is_zero(self.parameters.get(flag, "0"))

    def unsteady_reason(self) -> str:
        """Return why its load on the devices changes while it runs; "" if it does not."""
        for name, reason in _UNSTEADY.items():
            if self.has(name):
                return f"job {self.section} {reason} ({name}), so that the load changes"
        if not self.is_direct:
            return (
                f"job {self.section} uses the page cache, whose writes reach the device later; "
                "set direct=1, and an engine that obeys it"
            )
        if not self.reads_only and not self.has("overwrite"):
            return f"job {self.section} writes to files that it extends at first; set overwrite=1"
        if self.makes_files:
            return f"job {self.section} makes or removes files while it runs"
        if not self.reads_only and self.has("verify"):
            return f"job {self.section} reads what it has written after each pass (verify)"
        return ""

    def paths(self) -> Iterator[tuple[str, str]]:
        """Return each path with the name of its parameter; the section's name is a file too."""
        yield from (("name", path) for path in _paths("name", self.section))
        for name, value in self.parameters.items():
            yield from ((name, path) for path in _paths(name, value or ""))

    def on(self, target: TargetPaths) -> Job:
        """Return the job with directories that are relative to the trial's folder."""
        given = self.parameters.get(DIRECTORY)
        if given is None:
            return self
        moved = (_relocate(path, target).replace(":", "\\:") for path in _paths(DIRECTORY, given))
        return replace(self, parameters={**self.parameters, DIRECTORY: ":".join(moved)})

    def lines(self) -> Iterator[str]:
        """Return the job as a section of a job file."""
        yield f"[{self.section}]"
        for name, value in self.parameters.items():
            yield name if value is None else f"{name}={value}"


@dataclass(frozen=True)
class JobFile:
    """The jobs of a job file as fio parses them, each with all its parameters."""

    path: Path
    jobs: tuple[Job, ...]

    def __str__(self) -> str:
        return " ".join(line for job in self.jobs for line in job.lines())

    @property
    def changes_files(self) -> bool:
        """Whether a job writes, trims or removes, so that the next trial needs new files."""
        return not self._reads_only or self.makes_files

    @property
    def _reads_only(self) -> bool:
        return all(job.reads_only for job in self.jobs)

    @property
    def makes_files(self) -> bool:
        """Whether a job creates files while it runs."""
        return any(job.makes_files for job in self.jobs)

    @property
    def has_runtimes(self) -> bool:
        """Whether every job has a runtime of its own."""
        return all("runtime" in job.parameters for job in self.jobs)

    def unsteady_reason(self) -> str:
        """Return why a job's load changes while the jobs run; "" if none does."""
        return next(filter(None, (job.unsteady_reason() for job in self.jobs)), "")

    def groups(self) -> tuple[int, ...]:
        """Return the reporting group of each job: new_group or stonewall starts another."""
        starts = (job.has("stonewall") or job.has("new_group") for job in self.jobs[1:])
        return tuple(accumulate(starts, initial=0))

    def phases(self) -> tuple[int, ...]:
        """Return the phase of each reporting group; stonewall starts another phase."""
        starts = (job.has("stonewall") for job in self.jobs[1:])
        return tuple(dict(zip(self.groups(), accumulate(starts, initial=0), strict=True)).values())

    def text(self, target: TargetPaths) -> str:
        """Return the job file for fio in the trial's folder."""
        return "".join(f"{line}\n" for job in self.jobs for line in job.on(target).lines())

    def options(self, target: TargetPaths) -> list[tuple[int, dict[str, str]]]:
        """Return the group and the parameters with a value of each job, as fio reports them."""
        of_jobs = (job.on(target).parameters for job in self.jobs)
        given = ({name: v for name, v in parameters.items() if v} for parameters in of_jobs)
        return list(zip(self.groups(), given, strict=True))

    @property
    def groups_reports(self) -> bool:
        """Whether the entries of fio's report are groups of jobs."""
        return any(job.has("group_reporting") for job in self.jobs)

    def notes(self) -> Iterator[str]:
        """Return a note on the rates of jobs that start later without a phase of their own."""
        late = [j.section for j in self.jobs if j.has("wait_for") or j.has("startdelay")]
        if late:
            yield (
                f"{', '.join(late)} started later (wait_for, startdelay): rates of all jobs are "
                "over the longest job, as in fio's summary, and not over the whole time"
            )

    def endless(self) -> JobFile:
        """Return the jobs without an end, in place of sizes and runtimes."""
        jobs = (replace(job, parameters={**job.parameters, **_ENDLESS}) for job in self.jobs)
        return replace(self, jobs=tuple(jobs))

    def directories(self, target: TargetPaths) -> Iterator[str]:
        """Return the directories of the jobs, relative to the trial's folder."""
        for job in self.jobs:
            yield from (path for name, path in job.on(target).paths() if name == DIRECTORY)

    def reads_device(self, target: TargetPaths) -> bool:
        """Whether a job reads the scratch device itself."""
        return any(_is_device(path, target) for job in self.jobs for _, path in job.paths())

    def refusals(self, target: TargetPaths = NO_TARGET) -> Iterator[str]:
        """Return each parameter that a study on this target cannot have, with the reason."""
        for job in self.jobs:
            for name, reason in _REFUSED.items():
                if job.parameters.get(name, "0") != "0":
                    yield f"{name} {reason}"
            engine = job.parameters.get("ioengine")
            if engine is not None and engine not in ENGINES:
                yield f"ioengine={engine} {fio_text.OTHER_ENGINE}"
            for name, path in job.on(target).paths():
                if name == _FILENAME and _is_device(path, target):
                    if not self._reads_only:
                        yield (
                            f"{name}={path} has the file system of the study, which a write would "
                            "destroy; write to a file on it (override: {filename: data, size: 1g})"
                        )
                elif _leads_outside(path):
                    remedy = _REMEDIES.get(name, "")
                    yield f"{name}={path} is outside of the target; make it a relative path{remedy}"


def find_job_file(job: str) -> Path:
    """The absolute path of a job file; one that comes with iostudy is found by its name alone."""
    path = Path(job)
    ready_made = READY_MADE / path.name
    if path.name == job and not path.exists() and ready_made.exists():
        return ready_made
    return path.absolute()


def read(job: str, override: Mapping[str, str]) -> JobFile:
    """Let fio parse a job file, given by its path or as its text, with overrides in every job.

    UsageError if parsing it would do more than that, before fio starts, and with fio's message if
    fio rejects it.
    """
    if "\n" in job:
        return _parse(Path("job").absolute(), job, override)
    path = find_job_file(job)
    try:
        content = read_named(path, fio_text.MOST_BYTES + 1)
    except OSError as error:
        raise _invalid(
            path,
            error.strerror or str(error),
            "give the path of a job file, from the folder in which iostudy is started, or one of "
            + ", ".join(sorted(file.name for file in READY_MADE.glob("*.fio"))),
        ) from error
    if len(content) > fio_text.MOST_BYTES:
        raise _invalid(path, f"more than {format_size(fio_text.MOST_BYTES)}", "shorten it")
    return _parse(path, content.decode(errors="replace"), override)


def _parse(path: Path, content: str, override: Mapping[str, str]) -> JobFile:
    lines = fio_text.rewrite(content, path.parent, override)
    if refusals := dict.fromkeys(fio_text.find_refusals(lines)):
        raise _invalid(path, "; ".join(refusals), _REMEDY)
    # The text may be anybody's: fio, which is written in C, parses it without the rights of root.
    nobody = Account.nobody() if os.geteuid() == ROOT_UID else None
    parsing = Program(
        ("fio", "--parse-only", "--debug=parse", "-"),
        Path("/"),
        _PARSING_SECONDS,
        inherited=_PARSER_VARIABLES,
        input="".join(f"{line}\n" for line in lines),
        account=nobody if nobody is not None and nobody.can_run("fio") else None,
    )
    ended = program.run(parsing)
    if ended.status:
        said = ended.stderr.last_lines() or ended.stdout.last_lines()
        raise _invalid(path, f"fio says: {said}", "correct it; `fio --parse-only FILE` checks it")
    job = JobFile(path, parse(ended.stdout.text, fio_text.count_parameters(lines)))
    if not job.jobs:
        raise _invalid(path, "it has no job", "add a section such as [job]")
    return job


def require_safe(job: JobFile, target: TargetPaths) -> None:
    """UsageError with every parameter that a study on this target cannot have."""
    refusals = list(dict.fromkeys(job.refusals(target)))
    if refusals:
        raise _invalid(job.path, "; ".join(refusals), _REMEDY)


def parse(debug: str, counts: Sequence[int]) -> tuple[Job, ...]:
    """Return the jobs in what ``fio --debug=parse`` prints: sections, and each parameter as obeyed.

    ``counts`` are the numbers of parameters in the text of each section. After those that all
    engines have, fio prints the defaults of the engine, and then those that the section has for it.
    """
    everywhere = Job("global", {})
    jobs: list[Job] = []
    for (name, options, of_engine), count in zip(_sections(debug), counts, strict=True):
        given = of_engine[len(of_engine) - (count - len(options)) :] if of_engine else []
        if fio_text.is_global(name):
            everywhere = _with(everywhere, options, given)
        else:
            # A name in [global] is none of the jobs'.
            held = {n: value for n, value in everywhere.parameters.items() if n != "name"}
            jobs.append(_with(Job(name, held, everywhere.of_engine), options, given))
    return tuple(jobs)


def _sections(debug: str) -> list[tuple[str, list[Parameter], list[Parameter]]]:
    """Return the sections: name, parameters, and those of the engine with its defaults."""
    sections: list[tuple[str, list[Parameter], list[Parameter]]] = []
    parameters: list[Parameter] = []
    for line in debug.split("\n"):
        if match := _SECTION.fullmatch(line):
            sections.append((match[1], parameters := [], []))
        elif _DEFAULTS.fullmatch(line) and sections:
            parameters = sections[-1][2]
        elif match := _PARAMETER.fullmatch(line):
            parameters.append((match[1], None if match[2] == _NO_VALUE else match[2]))
    return sections


def _with(job: Job, parameters: Sequence[Parameter], of_engine: Sequence[Parameter]) -> Job:
    """Add parameters to those inherited; another engine has none of the inherited engine's."""
    held = dict(job.parameters)
    if dict(parameters).get("ioengine", engine := held.get("ioengine")) != engine:
        held = {name: value for name, value in held.items() if name not in job.of_engine}
        job = replace(job, of_engine=frozenset())
    for name, value in (*parameters, *of_engine):
        _set(held, name, value)
    return replace(job, parameters=held, of_engine=job.of_engine | dict(of_engine).keys())


def _is_zero(value: str | None) -> bool:
    return value is not None and re.fullmatch("0+|0x0+", value) is not None


def _set(section: dict[str, str | None], name: str, value: str | None) -> None:
    """Set a parameter, as the last one: some change others that stand before them."""
    carrier, prefix = fio_text.CARRIER
    if name == carrier and value is not None and value.startswith(prefix):
        name, value = DIRECTORY, value.removeprefix(prefix)
    if name == "buffered":
        name, value = "direct", "1" if _is_zero(value) else "0"
    section.pop(name, None)
    section[name] = value


def _paths(name: str, value: str) -> list[str]:
    """Return the paths in a parameter; in lists a backslash escapes a colon."""
    if name in _PATH_LISTS:
        return [part.replace("\\:", ":") for part in re.split(r"(?<!\\):", value)]
    if name in _MEMORY:
        return [value.partition(":")[2]]
    return [value] if name in _PATHS else []


def _leads_outside(path: str) -> bool:
    """Whether a path leaves fio's working folder, before links: its first component is empty."""
    depth = 0
    for part in PurePosixPath(path).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return path.startswith("/")


def _relocate(path: str, target: TargetPaths) -> str:
    """A directory below the target as one below the trial's folder; any other unchanged."""
    if target.directory is None or not path.startswith("/"):
        return path
    below = os.path.relpath(path, target.directory.absolute())
    return path if _leads_outside(below) else below


def _is_device(path: str, target: TargetPaths) -> bool:
    if target.device is None or not Path(path).is_block_device():
        return False
    return Path(path).stat().st_rdev == target.device.stat().st_rdev


def _invalid(path: Path, found: str, remedy: str) -> UsageError:
    return UsageError("a fio job file to run", found=found, where=str(path), remedy=remedy)


_OUTPUT = frozenset(
    ("output", "output-format", "eta", "eta-newline", "eta-interval", "minimal", "terse-version")
)
"""Options that only concern what fio prints, which iostudy decides."""
_OTHER = frozenset(
    (
        "client",
        "server",
        "section",
        "trigger",
        "trigger-file",
        "profile",
        "daemonize",
        "remote-config",
    )
)
"""Options that make another program of fio."""


@dataclass(frozen=True)
class FioCommand:
    """A job file by its path, or the text of one, and the parameters that replace those in it."""

    job: str
    override: Mapping[str, str]
    label: str


def parse_command_line(arguments: Sequence[str], directory: Path) -> FioCommand:
    """Return the jobs of a command line; relative paths start in ``directory``."""
    files = [argument for argument in arguments[1:] if _is_file(argument, directory)]
    parameters = list(_parameters([word for word in arguments[1:] if word not in files]))
    if not files and any(name == "name" for name, _ in parameters):
        label = next(value for name, value in parameters if name == "name")
        return FioCommand(_write_jobs(parameters), {}, label)
    if len(files) != 1 or any(name == "name" for name, _ in parameters):
        raise _usage(
            f"{len(files)} job files" if len(files) != 1 else "a job file and --name",
            "name one job file, or jobs by --name",
        )
    path = Path(files[0])
    is_ready_made = not (directory / path).exists()
    job = path.name if is_ready_made else str(directory / path)
    return FioCommand(job, dict(parameters), path.stem)


def _is_file(argument: str, directory: Path) -> bool:
    if argument.startswith("-"):
        return False
    return (directory / argument).is_file() or (READY_MADE / argument).is_file()


def _parameters(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names and values; a flag has the value 1."""
    left = list(arguments)
    while left:
        option = left.pop(0)
        if not option.startswith("--"):
            raise _usage(option, "name a job file that exists, or parameters as --name=value")
        name, equals, value = option.removeprefix("--").partition("=")
        if not equals:
            value = left.pop(0) if left and not left[0].startswith("-") else "1"
        if name in _OTHER:
            raise _usage(option, f"leave --{name} out: iostudy runs fio's jobs on this host")
        if name not in _OUTPUT:
            yield name, value


def _write_jobs(parameters: Sequence[tuple[str, str]]) -> str:
    lines = [] if parameters[0][0] == "name" else ["[global]"]
    lines += [f"[{v}]" if name == "name" else f"{name}={v}" for name, v in parameters]
    return "".join(f"{line}\n" for line in lines)


def _usage(found: str, remedy: str) -> UsageError:
    return UsageError(
        "a fio command that iostudy can run", found=found, where="the command line", remedy=remedy
    )
