"""One job of mrbench: staged, run as processes, committed, verified."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from iostudy.account import Account, act_as_process
from iostudy.errors import WorkloadError
from iostudy_hadoop.native import mrbench_task
from iostudy_hadoop.native.mrbench_task import (
    JOB,
    MAP,
    REDUCE,
    SPLITS,
    Storage,
    committed_folder,
    format_partitions,
    format_properties,
    part_name,
)

INPUT = "mr_input/input.txt"
_OUTPUT, _STAGING, _INTERMEDIATE = "mr_output", "staging", "intermediate"
_ASK_EVERY_SECONDS = 0.1


@dataclass(frozen=True)
class Shape:
    """Parameters that all jobs of a run share; ``account`` is that of the place."""

    directory: Path
    maps: int
    reduces: int
    sync: bool
    lines: tuple[bytes, ...]
    account: Account | None = None


class JobTimes(NamedTuple):
    """The wall time of a job, and the times of its tasks and its own steps.

    ``starts_seconds`` has the time from the start of each task's process to its first line.
    ``busy_seconds`` are the life of all tasks until the last one ends, and the job's own
    operations.
    """

    wall_seconds: float
    starts_seconds: Sequence[float]
    operations: Sequence[tuple[str, float]]
    busy_seconds: float


@dataclass(frozen=True)
class _Task:
    start_seconds: float
    life_seconds: float
    operations: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class MrBenchJob:
    """The job of that number in its run; it calls ``ask`` while it waits, which raises to stop."""

    shape: Shape
    number: int
    ask: Callable[[], None]

    def run(self) -> JobTimes:
        """Stage it, run maps and then reduces, commit, and clean up behind; then verify."""
        storage = Storage(sync=self.shape.sync)
        began = time.monotonic()
        self._stage(storage)
        tasks = [*self._tasks(MAP, self.shape.maps), *self._tasks(REDUCE, self.shape.reduces)]
        self._commit(storage)
        wall_seconds = time.monotonic() - began
        spent = sum(seconds for _, seconds in storage.operations)
        self._verify()
        return JobTimes(
            wall_seconds,
            tuple(task.start_seconds for task in tasks),
            (*storage.operations, *(operation for task in tasks for operation in task.operations)),
            spent + sum(task.life_seconds for task in tasks),
        )

    @property
    def output(self) -> str:
        """Return the folder of its parts after its end."""
        return self._folder(_OUTPUT)

    def _folder(self, kind: str) -> str:
        return f"{self.shape.directory}/{kind}/job_{self.number:06d}"

    def _stage(self, storage: Storage) -> None:
        staging = self._folder(_STAGING)
        job = {
            "input": f"{self.shape.directory}/{INPUT}",
            "intermediate": self._folder(_INTERMEDIATE),
            "output": self.output,
            "maps": str(self.shape.maps),
            "reduces": str(self.shape.reduces),
            "sync": str(self.shape.sync),
        }
        splits = _splits(self.shape.lines, self.shape.maps)
        storage.create(f"{staging}/{SPLITS}", format_partitions(splits))
        storage.create(f"{staging}/{JOB}.tmp", format_properties(job))
        storage.commit(f"{staging}/{JOB}.tmp", f"{staging}/{JOB}")

    def _tasks(self, kind: str, count: int) -> list[_Task]:
        """Start all tasks of a kind and wait for them; none survives an exception."""
        with ExitStack() as held:
            started = []
            for index in range(count):
                at = time.monotonic()
                process = held.enter_context(self._start(kind, index))
                held.callback(process.kill)
                started.append((process, at))
            return [self._ended(process, at) for process, at in started]

    def _start(self, kind: str, index: int) -> subprocess.Popen[bytes]:
        script, staging = mrbench_task.__file__, self._folder(_STAGING)
        account = self.shape.account
        user = () if account is None else map(str, (account.uid, account.gid, *account.groups))
        with act_as_process():
            return subprocess.Popen(
                [sys.executable, "-I", "-S", script, kind, str(index), staging, *user],
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )

    def _ended(self, process: subprocess.Popen[bytes], started: float) -> _Task:
        while True:
            self.ask()
            try:
                printed, complaint = process.communicate(timeout=_ASK_EVERY_SECONDS)
                break
            except subprocess.TimeoutExpired:
                continue
        began, ended, operations = _report(
            printed.decode(), complaint, process.returncode, self.shape.directory
        )
        return _Task(began - started, ended - started, operations)

    def _commit(self, storage: Storage) -> None:
        """Commit like FileOutputCommitter: move the parts, write _SUCCESS, remove attempts."""
        for index in range(self.shape.reduces):
            name = part_name(index)
            storage.commit(
                f"{committed_folder(self.output, index)}/{name}", f"{self.output}/{name}"
            )
        storage.create(f"{self.output}/_SUCCESS", b"")
        shutil.rmtree(f"{self.output}/_temporary")
        shutil.rmtree(self._folder(_INTERMEDIATE))
        shutil.rmtree(self._folder(_STAGING))

    def _verify(self) -> None:
        """WorkloadError unless every part is sorted, and together they are the input."""
        written: list[bytes] = []
        for index in range(self.shape.reduces):
            path = Path(self.output, part_name(index))
            lines = path.read_bytes().splitlines(keepends=True)
            if lines != sorted(lines):
                raise _wrong("a part that is not sorted", path)
            written += lines
        if sorted(written) != sorted(self.shape.lines):
            raise _wrong(f"{len(written)} lines that are not those", Path(self.output))


def _splits(lines: Sequence[bytes], maps: int) -> list[bytes]:
    """The input in as many lines for each map, or one more."""
    bounds = [len(lines) * index // maps for index in range(maps + 1)]
    return [b"".join(lines[begin:end]) for begin, end in pairwise(bounds)]


def _report(
    printed: str, complaint: bytes, code: int, directory: Path
) -> tuple[float, float, tuple[tuple[str, float], ...]]:
    """When a task began and ended, and its operations; OSError for what it was refused."""
    if code == 0:
        (began, ended), *operations = (line.split() for line in printed.splitlines())
        return float(began), float(ended), tuple((name, float(s)) for name, s in operations)
    if printed:
        number, _, filename = printed.partition(" ")
        raise OSError(int(number), os.strerror(int(number)), filename)
    said = complaint.decode(errors="replace").strip().rpartition("\n")[2]
    raise WorkloadError(
        "a task to end with exit code 0",
        found=f"exit code {code}; it printed: {said or 'nothing'}",
        where=str(directory),
        remedy="see the kernel's log (dmesg): a task may have been killed because memory ran out",
    )


def _wrong(found: str, where: Path) -> WorkloadError:
    return WorkloadError(
        "the sorted lines of the input",
        found=found,
        where=str(where),
        remedy="check the device and its log (dmesg): data were changed or lost",
    )
