"""Command lines of fio as jobs: job files with overrides, or jobs by ``--name``.

Syntax: fio(1), "SYNOPSIS". Parameters before the first ``--name`` hold for all jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import UsageError
from iostudy.workloads.external.fio_job import READY_MADE

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


def is_fio(arguments: Sequence[str]) -> bool:
    """Whether the program is fio."""
    return Path(arguments[0]).name == "fio"


def parse(arguments: Sequence[str], directory: Path) -> FioCommand:
    """Return the jobs of a command line; relative paths start in ``directory``."""
    files = [each for each in arguments[1:] if _is_file(each, directory)]
    parameters = list(_parameters([each for each in arguments[1:] if each not in files]))
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
