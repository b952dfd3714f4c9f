"""Parameters of a fio job file, as fio itself parses them, and the checks on them.

Names and meanings of the parameters: fio(1), "JOB FILE PARAMETERS".
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from iostudy.errors import UsageError
from iostudy.workloads.external import fio_text, program
from iostudy.workloads.external.program import Program, ProgramResult
from iostudy.workloads.workload import NO_TARGET, TargetPaths

READY_MADE = Path(__file__).parent / "jobs"
_PARSING_SECONDS = 60.0

_DIRECTORY, _FILENAME = "directory", "filename"
_PATH_LISTS = frozenset({_FILENAME, _DIRECTORY})
_REMEDIES = {
    _FILENAME: " (override: {filename: data, size: 1g})",
    _DIRECTORY: " (override: {directory: .})",
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
_ENGINES = frozenset(
    (
        *("sync", "psync", "vsync", "pvsync", "pvsync2", "io_uring", "libaio", "posixaio"),
        *("mmap", "splice", "falloc", "ftruncate", "e4defrag", "cpuio", "null"),
        *("filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"),
    )
)
_KIND = ("rw", "readwrite")
_RUNTIME = frozenset({"runtime", "timeout"})
_READS_ONLY = frozenset({"read", "randread"})
_MADE_IN_THE_RUN = frozenset({"create_on_open", "unlink", "unlink_each_loop"})
_OFF = "0"
_ENDLESS = "30d"
"""Longer than any study runs one workload."""


@dataclass(frozen=True)
class JobFile:
    """A job file in the form of a command line, with included files and variables filled in.

    ``parameters`` are (name, value) in their order; a parameter ``name`` begins a job, and those
    before the first one hold for all. ``is_rewritten``: fio runs the parameters and not the file,
    because overrides or directories of the target are among them.
    """

    path: Path
    command_line: str
    parameters: tuple[tuple[str, str], ...]
    is_rewritten: bool = False

    @property
    def changes_files(self) -> bool:
        """Whether a job writes, trims or removes, so that the next trial needs new files."""
        return not self._reads_only or self.makes_files

    @property
    def _reads_only(self) -> bool:
        kinds = {value.partition(":")[0] for name, value in self.parameters if name in _KIND}
        return kinds <= _READS_ONLY

    @property
    def makes_files(self) -> bool:
        """Whether the jobs create files while they run: I/O that fio does not count."""
        return any(n in _MADE_IN_THE_RUN and value != _OFF for n, value in self.parameters)

    @property
    def is_direct(self) -> bool:
        """Whether every job bypasses the page cache."""
        return self._has_everywhere("direct")

    @property
    def overwrites(self) -> bool:
        """Whether every job writes to files that have their full size before."""
        return self._has_everywhere("overwrite")

    @property
    def has_runtimes(self) -> bool:
        """Whether every job has a runtime of its own."""
        everywhere, *jobs = ({name for name, _ in section} for section in self._sections())
        return all(_RUNTIME & (everywhere | job) for job in jobs)

    def _has_everywhere(self, flag: str) -> bool:
        everywhere, *jobs = (dict(section) for section in self._sections())
        return all({**everywhere, **job}.get(flag, _OFF) != _OFF for job in jobs)

    def phases(self) -> tuple[int, ...]:
        """Return the phase of each reporting group; phases run one after another.

        A job starts a group by new_group or stonewall, and a phase by stonewall.
        """
        everywhere, *jobs = self._sections()
        found = [0]
        for job in jobs[1:]:
            flags = {name for name, value in (*everywhere, *job) if value != _OFF}
            waits = bool(flags & {"stonewall", "wait_for_previous"})
            if waits or "new_group" in flags:
                found.append(found[-1] + waits)
        return tuple(found)

    def arguments(self, target: TargetPaths) -> tuple[str, ...]:
        """Arguments of fio, which works in the trial's folder: the file, or its parameters."""
        if not self.is_rewritten:
            return (str(self.path),)
        return _command_line(self._parameters_on(target))

    def endless_arguments(self, target: TargetPaths) -> tuple[str, ...]:
        """Arguments of fio that run the jobs again and again, in place of sizes and runtimes."""
        placed = replace(self, parameters=self._parameters_on(target))
        everywhere, *jobs = placed._sections()
        endless = [("time_based", "1"), ("runtime", _ENDLESS)]
        kept = [everywhere, *([*job, *endless] for job in jobs)]
        return _command_line(tuple(parameter for section in kept for parameter in section))

    def directories(self, target: TargetPaths) -> Iterator[str]:
        """Return the directories of the jobs, relative to the trial's folder."""
        for name, value in self.parameters:
            if name == _DIRECTORY:
                yield from (_relocate(path, target) for path in _paths(name, value))

    def reads_device(self, target: TargetPaths) -> bool:
        """Whether a job reads the scratch device itself."""
        return any(
            _is_device(path, target)
            for name, value in self.parameters
            for path in _paths(name, value)
        )

    def _parameters_on(self, target: TargetPaths) -> tuple[tuple[str, str], ...]:
        return tuple(
            (name, ":".join(_escaped(_relocate(path, target)) for path in _paths(name, value)))
            if name == _DIRECTORY
            else (name, value)
            for name, value in self.parameters
        )

    def _sections(self) -> list[list[tuple[str, str]]]:
        sections: list[list[tuple[str, str]]] = [[]]
        for name, value in self.parameters:
            if name == "name":
                sections.append([])
            sections[-1].append((name, value))
        return sections

    def refusals(self, target: TargetPaths = NO_TARGET) -> Iterator[str]:
        """Return each parameter that a study on this target cannot have, with the reason."""
        for name, value in self.parameters:
            if name in _REFUSED and value != _OFF:
                yield f"{name} {_REFUSED[name]}"
            if name == "ioengine" and value not in _ENGINES:
                yield f"ioengine={value} does not work on files; take one of those that do"
            for path in _paths(name, value):
                yield from self._path_refusals(name, path, target)

    def _path_refusals(self, name: str, path: str, target: TargetPaths) -> Iterator[str]:
        if name == _DIRECTORY:
            path = _relocate(path, target)
        if name == _FILENAME and _is_device(path, target):
            if not self._reads_only:
                yield (
                    f"{name}={path} has the file system of the study, which a write would destroy; "
                    "write to a file on it (override: {filename: data, size: 1g})"
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


def read(path: Path, override: Mapping[str, str] | None = None) -> JobFile:
    """Parse a job file with fio, with overrides in every job.

    UsageError with fio's message if fio rejects it.
    """
    _require_file(path)
    with tempfile.TemporaryDirectory(prefix="iostudy-fio-") as folder:
        own = path.read_text(encoding="utf-8", errors="replace")
        text = fio_text.rewrite(own, path.parent, override or {}, Path(folder))
        is_rewritten = bool(override or text.directories)
        shown = path
        if text.text.splitlines() != own.splitlines():
            shown = Path(folder) / "job.fio"
            shown.write_text(text.text)
            for number in range(len(text.directories)):
                (Path(folder) / str(number)).mkdir()
        showcmd = Program(("fio", "--showcmd", str(shown)), Path("/"), _PARSING_SECONDS)
        output = _accepted(path, program.run(showcmd)).stdout.text
        for number, directory in reversed(list(enumerate(text.directories))):
            output = output.replace(str(Path(folder) / str(number)), _escaped(directory))
    job = replace(parse(path, output), is_rewritten=is_rewritten)
    if not any(name == "name" for name, _ in job.parameters):
        raise _invalid(path, "it has no job", "add a section such as [job]")
    return job


def require_safe(job: JobFile, target: TargetPaths) -> None:
    """UsageError with every parameter that a study on this target cannot have."""
    refusals = list(dict.fromkeys(job.refusals(target)))
    if refusals:
        raise _invalid(
            job.path, "; ".join(refusals), "take those out of the job file, or override them"
        )


def parse(path: Path, shown: str) -> JobFile:
    """The parameters in what ``fio --showcmd`` prints.

    It puts no quotes about blanks, so a value that contains `` --x=y`` counts as two parameters;
    what is refused is refused in either reading.
    """
    command_line = " ".join(shown.split("\n")).strip()
    words = re.split(r"\s--(?=[a-z])", " " + command_line.removeprefix("fio"))[1:]
    pairs = (word.strip().partition("=") for word in words)
    return JobFile(path, command_line, tuple((name, value) for name, _, value in pairs))


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


def _escaped(path: str) -> str:
    return path.replace(":", "\\:")


def _command_line(parameters: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(f"--{name}={value}" if value else f"--{name}" for name, value in parameters)


def _accepted(path: Path, ended: ProgramResult) -> ProgramResult:
    # fio ignores an included file that it cannot read, and exits with 0.
    if ended.status or "parsing include file" in ended.stderr.text:
        said = ended.stderr.last_lines() or ended.stdout.last_lines()
        raise _invalid(path, f"fio says: {said}", "correct it; `fio --showcmd FILE` checks it")
    return ended


def _require_file(path: Path) -> None:
    if found := _unreadable(path):
        raise _invalid(
            path,
            found,
            "give the path of a job file, from the folder in which iostudy is started, or one of "
            + ", ".join(sorted(each.name for each in READY_MADE.glob("*.fio"))),
        )


def _unreadable(path: Path) -> str | None:
    """Why it is no file to read. fio would read a device without end, or wait for a FIFO."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            return "that is no regular file"
        with path.open("rb"):
            return None
    except OSError as error:
        return str(error.strerror)


def _invalid(path: Path, found: str, remedy: str) -> UsageError:
    return UsageError("a fio job file to run", found=found, where=str(path), remedy=remedy)
