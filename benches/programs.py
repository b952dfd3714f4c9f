"""Commands of the native engine, fio and dd for the same files and access."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from iostudy._native import FileJob
from iostudy.job import JobSpec
from iostudy.units import MIB

RECORD_BYTES = MIB


@dataclass(frozen=True)
class Case:
    """One way to move files: ``threads`` of them at once, from start to end.

    A buffered write ends with fsync, a direct one does not.
    """

    operation: Literal["write", "read"]
    direct: bool
    threads: int
    file_bytes: int

    @property
    def fsync(self) -> bool:
        """Whether the measured time ends with the data on the disk."""
        return self.operation == "write" and not self.direct

    @property
    def total_mib(self) -> float:
        """What all threads move together."""
        return self.threads * self.file_bytes / MIB

    def __str__(self) -> str:
        how = "direct" if self.direct else "buffered+fsync" if self.fsync else "buffered"
        return f"{self.operation} {how}, {self.threads} thread{'s' * (self.threads > 1)}"


def run_engine(case: Case, paths: list[Path]) -> float:
    """MiB/s of the native engine, by its own clock."""
    spec = JobSpec(
        threads=tuple((str(path),) for path in paths),
        operation=case.operation,
        create=case.operation == "write",
        file_bytes=case.file_bytes,
        record_bytes=RECORD_BYTES,
        direct=case.direct,
        sync="fsync" if case.fsync else None,
        seed=0,
    )
    return case.total_mib / FileJob(spec).run().wall_seconds


def run_fio(case: Case, paths: list[Path]) -> float:
    """MiB/s of fio, by its own clock, which counts whole milliseconds and drops the rest."""
    figures = fio(
        paths,
        ioengine="psync",
        rw=case.operation,
        bs=RECORD_BYTES,
        size=case.file_bytes,
        direct=int(case.direct),
        end_fsync=int(case.fsync),
        fallocate="none",  # neither of the others gives its files room beforehand
    )[case.operation]
    return float(figures["io_bytes"] / MIB / (figures["runtime"] / 1000))


def fio(paths: list[Path], **options: str | int) -> dict[str, Any]:
    """What fio reports of a thread for each path, all taken together."""
    command = ["fio", "--thread", "--group_reporting", "--output-format=json"]
    command += [f"--{name}={value}" for name, value in options.items()]
    for path in paths:
        command += [f"--name={path.name}", f"--filename={path}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    report: dict[str, Any] = json.loads(done.stdout)["jobs"][0]
    return report


def run_dd(case: Case, paths: list[Path]) -> float:
    """MiB/s of one dd per file, by the clock of the slowest of them."""
    running = [_start_dd(case, path) for path in paths]
    return case.total_mib / max(_dd_seconds(process) for process in running)


def _start_dd(case: Case, path: Path) -> subprocess.Popen[str]:
    command = ["dd", f"bs={RECORD_BYTES}", f"count={case.file_bytes // RECORD_BYTES}"]
    if case.operation == "write":
        command += ["if=/dev/zero", f"of={path}"]
        command += ["oflag=direct"] * case.direct + ["conv=fsync"] * case.fsync
    else:
        command += [f"if={path}", "of=/dev/null"] + ["iflag=direct"] * case.direct
    environment = os.environ | {"LC_ALL": "C"}
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)


def _dd_seconds(process: subprocess.Popen[str]) -> float:
    _, said = process.communicate()
    match = re.search(r"copied, ([0-9.e-]+) s", said)
    if process.returncode or match is None:
        raise RuntimeError(f"dd failed: {said}")
    return float(match[1])


PROGRAMS: dict[str, Callable[[Case, list[Path]], float]] = {
    "iostudy": run_engine,
    "fio": run_fio,
    "dd": run_dd,
}
