"""Workloads with a known bottleneck: disks, control groups and programs for them.

A disk with a known speed is a loop device on another one, whose reads and writes a control group
limits below it: to whoever looks at the upper one only, it is a slow disk. Who works in several
such groups at once has a disk that serves as many at once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from iostudy.telemetry.recorder import ProcRecorder
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.units import KIB
from tests.fixtures_loop import MIB, loop_disk

GROUPS = Path("/sys/fs/cgroup")
_V1 = {"io": "blkio", "cpu": "cpu", "memory": "memory", "pids": "pids"}
_V1_FILES = {"riops": "read_iops_device", "wiops": "write_iops_device"}
DISK_BYTES = 64 * MIB
BEGUN = "begun"
_LONG_SECONDS = 300.0
Groups = tuple[Path, ...]


@dataclass(frozen=True)
class Values:
    """The files and texts to write for a controller, by its version."""

    v1: Sequence[tuple[str, str]]
    v2: Sequence[tuple[str, str]]


def _is_v1(controller: str) -> bool:
    return (GROUPS / _V1[controller] / "cgroup.procs").exists()


@contextmanager
def group(**controllers: Values) -> Iterator[Groups]:
    """Control groups for one process, with the values of each controller.

    Version 1 has a hierarchy for each controller, and so a group in each of them; in version 2 a
    process can only be in one group.
    """
    name, made = f"iostudy-test-{uuid4().hex[:8]}", list[Path]()
    with ExitStack() as stack:
        for controller, values in controllers.items():
            is_v1 = _is_v1(controller)
            path = (GROUPS / _V1[controller] if is_v1 else GROUPS) / name
            if not is_v1:
                (GROUPS / "cgroup.subtree_control").write_text(f"+{controller}")
            if path not in made:
                path.mkdir()
                stack.callback(path.rmdir)
                made.append(path)
            for file, value in values.v1 if is_v1 else values.v2:
                (path / file).write_text(value)
        yield tuple(made)


@contextmanager
def separate_groups() -> Iterator[Groups]:
    """A control group of version 2 for one process that is in others of version 1 as well.

    None where all controllers are in version 2: a process that is in a group is apart there.
    """
    hierarchy = GROUPS / "unified"
    if not hierarchy.exists():
        yield ()
        return
    path = hierarchy / f"iostudy-test-{uuid4().hex[:8]}"
    path.mkdir()
    try:
        yield (path,)
    finally:
        path.rmdir()


@contextmanager
def capped_group(device: str, **limits: int) -> Iterator[Groups]:
    """Control groups whose ``riops`` or ``wiops`` on the device are limited."""
    number = (Path("/sys/block") / device / "dev").read_text().strip()
    v1 = [
        (f"blkio.throttle.{_V1_FILES[kind]}", f"{number} {limit}") for kind, limit in limits.items()
    ]
    together = " ".join(f"{kind}={limit}" for kind, limit in limits.items())
    with group(io=Values(v1, [("io.max", f"{number} {together}")])) as made:
        yield made


def set_read_cap(groups: Groups, device: str, reads: int) -> None:
    """Change the limit of reads a second of a `capped_group`."""
    number = (Path("/sys/block") / device / "dev").read_text().strip()
    for path in groups:
        is_v1 = (path / "blkio.throttle.read_iops_device").exists()
        file, text = ("blkio.throttle.read_iops_device", "") if is_v1 else ("io.max", "riops=")
        (path / file).write_text(f"{number} {text}{reads}")


@contextmanager
def favoured_group(cores: float = 1024, memory_bytes: int | None = None) -> Iterator[Groups]:
    """Control groups whose processes have a CPU before all others, up to so many cores' time.

    With ``memory_bytes`` also no more memory than that, page cache included.
    """
    period = 100_000
    quota = int(cores * period)
    controllers = {
        "cpu": Values(
            v1=(("cpu.cfs_quota_us", str(quota)), ("cpu.shares", "262144")),
            v2=(("cpu.max", f"{quota} {period}"), ("cpu.weight", "10000")),
        )
    }
    if memory_bytes is not None:
        limit = str(memory_bytes)
        controllers["memory"] = Values([("memory.limit_in_bytes", limit)], [("memory.max", limit)])
    with group(**controllers) as made:
        yield made


@contextmanager
def filled_disk() -> Iterator[str]:
    """A loop device whose every block has been written."""
    with loop_disk(DISK_BYTES) as name:
        with Path(f"/dev/{name}").open("wb") as device:
            device.write(os.urandom(DISK_BYTES))
            os.fsync(device.fileno())
        yield name


@contextmanager
def stacked_loop(below: str) -> Iterator[str]:
    """A loop device on another one."""
    command = ["losetup", "--find", "--show", "--direct-io=on", f"/dev/{below}"]
    name = Path(subprocess.check_output(command, text=True).strip()).name
    try:
        yield name
    finally:
        subprocess.run(["losetup", "--detach", f"/dev/{name}"], check=True)


@dataclass(frozen=True)
class Program:
    """A command that works until it is killed, in control groups, and says when it has begun."""

    command: Sequence[str]
    groups: Sequence[Groups] = ()

    @contextmanager
    def running(self) -> Iterator[int]:
        """Its process id, once it has begun."""
        paths = (path for group in self.groups for path in group)
        joining = "".join(f"echo $$ > {path}/cgroup.procs; " for path in paths)
        command = ["sh", "-c", f'{joining}exec "$@"', "sh", *self.command]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline().strip() == BEGUN
                yield process.pid
            finally:
                process.kill()


def io(
    disks: Sequence[str], operation: str, *groups: Groups, threads: int = 1, **more: Any
) -> Program:
    """Random direct I/O of 4 KiB by so many threads, each one at a time; ``more`` changes that."""
    job = {
        "threads": [[f"/dev/{disk}" for disk in disks]] * threads,
        "operation": operation,
        "file_bytes": DISK_BYTES,
        "record_bytes": 4 * KIB,
        "seed": 1,
        "order": "random",
        "seconds": _LONG_SECONDS,
        "direct": True,
        "verify": False,
    }
    return Program([sys.executable, "-m", "tests.telemetry.worker", json.dumps(job | more)], groups)


def on_core(program: Program, core: int) -> Program:
    """The program on one processor only."""
    return replace(program, command=["taskset", "--cpu-list", str(core), *program.command])


def spin(*groups: Groups) -> Program:
    """Computes on one core."""
    return Program(["sh", "-c", f"echo {BEGUN}; while :; do :; done"], groups)


def record(
    devices: Sequence[str],
    workload: Sequence[Program],
    *,
    others: Sequence[Program] = (),
    roots: Sequence[int] = (),
    seconds: float = 1.0,
) -> TelemetrySummary:
    """The summary of a time in which the workload's programs and others run.

    ``roots`` are processes of the workload that are there already.
    """
    with ExitStack() as stack:
        pids = [stack.enter_context(program.running()) for program in workload]
        for program in others:
            stack.enter_context(program.running())
        recorder = ProcRecorder(devices, [*roots, *pids], hz=20)
        recorder.start()
        time.sleep(seconds)
        return recorder.stop().summary
