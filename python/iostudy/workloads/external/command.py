"""Workload that runs any program and reports its wall time or figures from its output."""

from __future__ import annotations

import os
import re
import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from iostudy.account import find_account, is_replaced
from iostudy.errors import UsageError, WorkloadError, WorkloadStoppedError
from iostudy.safe_path import ROOT_UID
from iostudy.units import format_rounded_size
from iostudy.workloads.definition import Figure, WorkloadDefinition
from iostudy.workloads.external import device_windows, program
from iostudy.workloads.external.extract import Extract
from iostudy.workloads.external.program import Program, ProgramResult
from iostudy.workloads.file_removal import empty
from iostudy.workloads.measurement import BYTES, Measurement
from iostudy.workloads.option_types import (
    Options,
    Seconds,
    Size,
    format_assignments,
    parse_assignments,
    parse_text,
)
from iostudy.workloads.tick import Tick, continue_run
from iostudy.workloads.windows import SteadyRun, Window
from iostudy.workloads.workload import Place, TargetPaths, Workload

_WINDOW_LEAD_SECONDS = 0.1
_UNSTEADY = (
    "iostudy cannot know whether the program repeats one load; steady: true declares that it does, "
    "until it is stopped"
)
_PLACEHOLDERS = {"{target}": "IOSTUDY_TARGET", "{seed}": "IOSTUDY_SEED"}
_REFUSE_ROOT = frozenset({"initdb", "pg_ctl", "postgres"})
"""Programs that refuse to run as root."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _arguments(given: Any) -> Any:
    """A text, or a list of texts and numbers; ValueError for anything else."""
    if isinstance(given, str):
        return given
    if not isinstance(given, list | tuple):
        raise ValueError(
            "write the program and its arguments as a text, or as a list such as "
            "[dd, if=/dev/zero, bs=1M]"
        )
    return tuple(map(parse_text, given))


def _format_argument(given: str | tuple[str, ...]) -> str:
    return given if isinstance(given, str) else shlex.join(given)


Environment = Annotated[
    dict[str, str],
    BeforeValidator(parse_assignments, json_schema_input_type=dict[str, str | float | bool] | str),
    PlainSerializer(format_assignments, return_type=str, when_used="json"),
]
"""Variables by name, also as a text, which a level of a factor can be."""

Arguments = Annotated[
    str | tuple[str, ...],
    BeforeValidator(_arguments, json_schema_input_type=str | tuple[str | float | bool, ...]),
    PlainSerializer(_format_argument, return_type=str, when_used="json"),
]
"""A program with its arguments, as a list or as a text, which a level of a factor can be."""


class CommandOptions(Options):
    """Options of command."""

    run: Arguments = Field(
        description="the program and its arguments: a list of texts and numbers, or a text that is "
        "split at blanks and quotes without expansion. {target} is replaced by the trial's "
        "folder, {seed} by a number that all trials of a block share"
    )
    shell: bool = Field(
        default=False,
        description="pass run, setup, prepare and cleanup as texts to sh -c; the folder and the "
        "number are in $IOSTUDY_TARGET and $IOSTUDY_SEED",
    )
    setup: Arguments | None = Field(
        None, description="program that runs once per block before its trials, unmeasured"
    )
    prepare: Arguments | None = Field(
        None, description="program that runs before every trial, unmeasured"
    )
    cleanup: Arguments | None = Field(
        None, description="program that runs after the trials of a block, also after a failure"
    )
    user: str | None = Field(
        None,
        max_length=32,
        description="the user that runs all of them if iostudy runs as root, such as postgres; it "
        "owns the trial's folder",
    )
    warmup: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=0, description="unmeasured runs before every trial, each after prepare"
    )
    figures: dict[str, Extract] = Field(
        default={},
        description="figures by name: {regex: ..., unit: MiB/s, higher_is_better: true}, or with "
        "jmespath instead of regex; the first one decides, without any exec_time",
    )
    environment: Environment = Field(
        default={},
        description="additional environment variables: a mapping, or a text such as A=1 B=2",
    )
    directory: str = Field(
        "{target}", description="working directory; a relative one is below the trial's folder"
    )
    limit: Seconds = Field(
        3600.0, description="time limit: the program is then killed, and the trial fails"
    )
    reads: bool = Field(
        default=False,
        description="drop the whole page cache before every trial; the trial then also reads the "
        "program from its disk",
    )
    space: Size | None = Field(None, description="space of its files on the target")
    steady: bool = Field(
        default=False,
        description="run repeats one load without an end until it is stopped, so that a study may "
        "change settings during the run; its figures are those of the target's devices",
    )
    duration: Annotated[Seconds, Field(gt=0)] = Field(
        10.0, description="with steady: how long a whole trial runs it"
    )

    @model_validator(mode="after")
    def _can_be_run(self) -> CommandOptions:
        for name in ("run", "setup", "prepare", "cleanup"):
            _require_arguments(name, getattr(self, name), shell=self.shell)
        return self

    @model_validator(mode="after")
    def _has_its_own_figures(self) -> CommandOptions:
        if self.steady and self.figures:
            raise ValueError(
                "with steady: true the devices give the figures, as a program that is stopped does "
                "not print its own; leave figures out"
            )
        return self

    @model_validator(mode="after")
    def _names_are_free(self) -> CommandOptions:
        taken = {BYTES, *(figure.name for figure in _ALWAYS)}
        for name in self.figures:
            if not _NAME.fullmatch(name) or name in taken:
                raise ValueError(
                    f"{name} cannot be the name of a figure; write a letter, then letters, digits "
                    f"and any of _.-, and none of {', '.join(sorted(taken))}"
                )
        for name, value in self.environment.items():
            if not _VARIABLE.fullmatch(name) or "\0" in value:
                raise ValueError(f"{name} cannot be set in an environment")
        return self


def _require_arguments(name: str, given: Arguments | None, *, shell: bool) -> None:
    if given is None:
        return
    if shell and not isinstance(given, str):
        raise ValueError(f"with shell: true, {name} is a text and not a list")
    if shell and any(placeholder in given for placeholder in _PLACEHOLDERS):
        raise ValueError(
            f"with shell: true, write "
            f'"$IOSTUDY_TARGET" and $IOSTUDY_SEED in {name}, in place of {{target}} and {{seed}}'
        )
    try:
        arguments = _split(given)
    except ValueError as error:
        raise ValueError(f"{name} cannot be split into arguments: {error}") from error
    if not arguments or not arguments[0]:
        raise ValueError(f"{name} names no program")
    if any("\0" in argument for argument in arguments):
        raise ValueError(f"{name} has a NUL character, which no argument can have")


def _split(given: str | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(shlex.split(given)) if isinstance(given, str) else given


@dataclass(frozen=True)
class Command(Workload):
    """A user's program. Everything that it leaves in the trial's folder is removed."""

    options: CommandOptions

    def space_bytes(self) -> int:
        return self.options.space or 0

    def expected_seconds(self, bytes_per_second: float) -> float | None:
        return None

    def reads(self) -> bool:
        return self.options.reads

    def check(self) -> None:
        """UsageError names a program, a user or a working directory that is not there."""
        self._require_user()
        directory = Path(self.options.directory)
        if directory.is_absolute() and not directory.is_dir():
            raise UsageError(
                "the working directory of a command",
                found="there is no such directory",
                where=str(directory),
                remedy="make it, or leave directory out to work on the target",
            )
        for given in (self.options.run, self.options.setup, self.options.prepare):
            if given is not None and self._is_findable(_split(given)[0]):
                # Of the target nothing is known yet, and nothing is needed.
                made = self._program(given, Place(Path(), 0))
                made.require_installed("install it, or give its whole path")
        self._require_made_program(directory)

    def check_target(self, target: TargetPaths) -> None:
        """UsageError if the user of the commands cannot reach the target."""
        account = find_account(self.options.user)
        if account is not None and target.directory is not None:
            account.require_entry(target.directory)

    def _require_user(self) -> None:
        """UsageError for a missing user, and for programs that refuse root."""
        if find_account(self.options.user) is not None or os.geteuid() != ROOT_UID:
            return
        given = (self.options.run, self.options.setup, self.options.prepare)
        words = {word for text in given if text for word in re.findall(r"[\w-]+", str(text))}
        if refusing := sorted(words & _REFUSE_ROOT):
            raise UsageError(
                f"a user other than root for {' and '.join(refusing)}",
                found="root, which they refuse",
                where="user of the command",
                remedy="add user: postgres, or run iostudy as that user",
            )

    def _require_made_program(self, directory: Path) -> None:
        """UsageError if nothing can make the relative path of the program before it runs."""
        name = _split(self.options.run)[0]
        if self.options.shell or "/" not in name or name.startswith(("/", *_PLACEHOLDERS)):
            return
        made = self.options.setup or self.options.prepare
        if made or (directory.is_absolute() and (directory / name).exists()):
            return
        raise UsageError(
            f"the program {name}",
            found="a relative path starts in the working directory of the command, which has no "
            "such file",
            where=f"directory: {directory}",
            remedy=f"write the absolute path, such as {Path(name).absolute()}, or name an absolute "
            "directory that contains it",
        )

    def _is_findable(self, name: str) -> bool:
        """Not what stands on the target or below the working directory: it may be made there."""
        made_there = any(placeholder in name for placeholder in _PLACEHOLDERS) or (
            "/" in name and not name.startswith("/")
        )
        return not self.options.shell and not made_there

    def preparation(self) -> str:
        """Trials with the same set-up share it."""
        return self.options.model_dump_json(include={"setup", "shell", "directory", "environment"})

    def prepare(self, place: Place) -> None:
        self._give(place)
        self._unmeasured(self.options.setup, place, place.tick)

    def reset(self, place: Place) -> None:
        """Run warmup and prepare; in an empty folder, where no setup has put anything."""
        self._give(place)
        for is_warmup in (*(True,) * self.options.warmup, False):
            if self.options.setup is None:
                empty(place.directory)
            self._unmeasured(self.options.prepare, place, place.tick)
            if is_warmup:
                self._unmeasured(self.options.run, place, place.tick)

    def run(self, place: Place) -> Measurement:
        """Run the program once. WorkloadError unless it ends with 0 and prints every figure."""
        if self.options.steady:
            start = time.monotonic() + _WINDOW_LEAD_SECONDS
            window = Window(start, start + self.options.duration)
            until = window.end + _WINDOW_LEAD_SECONDS
            timed = replace(place, tick=lambda done: place.tick(done) and time.monotonic() < until)
            steady = self.steady_run(timed)
            steady.meter.open(window)
            steady.run()
            counts = steady.meter.completed()
            if not counts:
                raise WorkloadStoppedError(
                    "to run a program for its duration", where=str(place.directory)
                )
            return Measurement(counts[0].figures)
        ended = program.run(self._program(self.options.run, place), place.tick)
        ended.require_success()
        figures = {
            **{name: source.reading(name, ended) for name, source in self.options.figures.items()},
            "exec_time": ended.wall_seconds,
            "user_time": ended.user_seconds,
            "system_time": ended.system_seconds,
            "peak_rss": float(ended.peak_rss_bytes),
        }
        notes, user = _notes(ended), self.options.user
        if is_replaced(user):
            notes = (f"without root the commands ran as the user of iostudy, not {user}", *notes)
        return Measurement(figures, notes=notes)

    def unsteady_reason(self) -> str:
        return "" if self.options.steady else _UNSTEADY

    def steady_run(self, place: Place) -> SteadyRun:
        """Run the program without its limit; the devices' counters measure it."""
        return device_windows.steady_program(self._program(self.options.run, place), place)

    def clean(self, place: Place) -> None:
        """Run cleanup, if there is one, and empty the folder."""
        try:
            self._unmeasured(self.options.cleanup, place, continue_run)
        finally:
            empty(place.directory)

    def _give(self, place: Place) -> None:
        """Give the folder to the user that runs the program; WorkloadError if it has another."""
        account = find_account(self.options.user)
        if account is None or account.uid == ROOT_UID or account == place.account:
            return
        if place.account is not None:
            raise WorkloadError(
                f"a folder for {account.name}, who runs the command",
                found=f"the target belongs to {place.account.name}",
                where=str(place.directory),
                remedy=f"name a target of root's or of {account.name}'s, or leave user out",
            )
        account.give(place.directory)

    def _unmeasured(self, given: str | tuple[str, ...] | None, place: Place, tick: Tick) -> None:
        if given is not None:
            program.run(self._program(given, place), tick).require_success()

    def _program(self, given: str | tuple[str, ...], place: Place) -> Program:
        values = {"{target}": str(place.directory), "{seed}": str(place.seed)}
        if self.options.shell:
            arguments: tuple[str, ...] = ("sh", "-c", str(given))
        else:
            arguments = tuple(_filled(argument, values) for argument in _split(given))
        variables = {variable: values[name] for name, variable in _PLACEHOLDERS.items()}
        return Program(
            arguments,
            directory=place.directory / _filled(self.options.directory, values),
            limit_seconds=self.options.limit,
            environment={**self.options.environment, **variables},
            account=find_account(self.options.user) or place.account,
        )


def _filled(text: str, values: dict[str, str]) -> str:
    """Replace all placeholders in one pass, so that values are never expanded."""
    pattern = "|".join(map(re.escape, values))
    return re.sub(pattern, lambda match: values[match[0]], text)


def _notes(ended: ProgramResult) -> tuple[str, ...]:
    running, outputs = ended.left_running, {"stdout": ended.stdout, "stderr": ended.stderr}
    left = (f"{running} processes were running when the program ended, and were killed",)
    return (left if running else ()) + tuple(
        f"the first {format_rounded_size(output.lost_bytes)} of {name} were not kept"
        for name, output in outputs.items()
        if output.lost_bytes
    )


_ALWAYS = (
    Figure("exec_time", "s", "from its start to its end", False),
    Figure(
        "user_time",
        "s",
        "CPU time in user mode of the program and of the children it has waited for",
        False,
    ),
    Figure("system_time", "s", "CPU time in kernel mode of the same", False),
    Figure("peak_rss", "B", "peak resident memory of the largest of these processes", False),
)


def _figures(options: CommandOptions) -> tuple[Figure, ...]:
    if options.steady:
        return device_windows.FIGURES
    return (*(source.figure(name) for name, source in options.figures.items()), *_ALWAYS)


COMMAND = WorkloadDefinition(
    name="command",
    models="any program, started with an argument list and measured as by hyperfine",
    not_modelled="the program's purpose: iostudy neither verifies its data nor knows its bytes, "
    "so it cannot detect foreign I/O",
    source="wait4(2), getrusage(2); jmespath.org; hyperfine's setup, prepare and cleanup",
    options=CommandOptions,
    figures=_figures,
    example={
        "run": "dd if=/dev/zero of={target}/zeros bs=1M count=64 conv=fsync",
        "environment": {"LC_ALL": "C"},
        "figures": {
            "copy_time": {
                "regex": r"copied, ([0-9.e+-]+) s",
                "stream": "stderr",
                "unit": "s",
                "higher_is_better": False,
            }
        },
        "space": "64MiB",
    },
    make=Command,
    steady_when="with steady: true; the bytes of the target's devices are measured",
    window_figures=lambda options: tuple(
        figure.name for figure in device_windows.FIGURES if options.steady
    ),
)
