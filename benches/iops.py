"""The native engine compared with fio: random 4 KiB reads from a disk and the page cache.

    python -m benches.iops

Past the page cache with 32 records of each thread under way by io_uring, and from the page cache by
pread. What is compared are records a second, and records for each second that the threads spend on
a processor, in user and kernel mode, by each program's own account; what the kernel's threads take
is in neither.

What makes it fair, and what does not: both read the same files, written once by the engine, each
thread its own, for the same time, in random order. The engine reads each record once before any
twice and verifies each; fio looks at nothing. fio runs twice: `fio` as it is, which keeps a map to
read each record once, and `fio best`, without the map and with all that makes it quicker at the
same depth: fixedbufs, registerfiles and batches. The programs run in an order drawn afresh for
every round; ratios are taken within a round and are to the better fio.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.programs import Case, fio, run_engine
from benches.ratio import format_ratio
from benches.scratch import scratch_folder
from iostudy._native import FileJob
from iostudy.job import JobSpec, Method
from iostudy.node import caches
from iostudy.units import MIB

ROUNDS = 12
RUN_SECONDS = 0.5
REST_SECONDS = 0.8
"""A disk may be behind a limiter that refills while it is idle, as this one's host has:
without a rest a program that is slow to start finds it fuller than one that is not."""
FILE_BYTES = 128 * MIB
DISK_BYTES = 512 * MIB
RECORD_BYTES = 4096
BUSY_GOAL = 1.11
"""Of records a second of processor time: a record takes at most 0.9 of what it takes fio."""


@dataclass(frozen=True)
class Shape:
    """One way to read at random; ``goal`` is for records a second, relative to fio."""

    method: Method
    depth: int
    threads: int
    goal: float

    @property
    def direct(self) -> bool:
        """Whether it goes past the page cache."""
        return self.method == "io_uring"

    def __str__(self) -> str:
        source = f"direct, depth {self.depth}" if self.direct else "page cache"
        return f"{source}, {self.threads} thread{'s' * (self.threads > 1)}"


@dataclass(frozen=True)
class Speed:
    """Thousand records a second, and for each second of processor time."""

    of_time: float
    of_processor: float


SHAPES = (
    Shape("io_uring", 32, 1, goal=1.0),
    Shape("io_uring", 32, 2, goal=1.0),
    Shape("psync", 1, 1, goal=1.3),
    Shape("psync", 1, 2, goal=1.3),
)


def by_engine(shape: Shape, paths: list[Path]) -> Speed:
    """By the engine's own clock and account."""
    spec = JobSpec(
        threads=tuple((str(path),) for path in paths),
        operation="read",
        file_bytes=FILE_BYTES,
        record_bytes=RECORD_BYTES,
        order="random",
        seconds=RUN_SECONDS,
        method=shape.method,
        depth=shape.depth,
        direct=shape.direct,
        seed=0,
    )
    done = FileJob(spec).run()
    if done.fallbacks:
        raise RuntimeError(*done.fallbacks)
    count = done.read.latencies.count
    return Speed(count / done.wall_seconds / 1000, count / done.cpu_seconds / 1000)


def by_fio(shape: Shape, paths: list[Path], **more: Any) -> Speed:
    """By fio's own clock and account."""
    job = fio(
        paths,
        ioengine=shape.method,
        iodepth=shape.depth,
        rw="randread",
        bs=RECORD_BYTES,
        size=FILE_BYTES,
        direct=int(shape.direct),
        invalidate=0,  # what is in the page cache stays there
        time_based=1,
        runtime=f"{RUN_SECONDS * 1000:.0f}ms",
        randseed=random.getrandbits(32),  # else it reads the same records every time
        **more,
    )
    busy_share = (job["usr_cpu"] + job["sys_cpu"]) / 100
    busy_ms = busy_share * job["job_runtime"]
    return Speed(job["read"]["iops"] / 1000, job["read"]["total_ios"] / busy_ms)


def by_best_fio(shape: Shape, paths: list[Path]) -> Speed:
    """Without its map, and with what io_uring offers."""
    if not shape.direct:
        return by_fio(shape, paths, norandommap=1)
    batches = {"iodepth_batch": shape.depth, "iodepth_batch_complete_max": shape.depth}
    return by_fio(shape, paths, norandommap=1, fixedbufs=1, registerfiles=1, **batches)


PROGRAMS: dict[str, Callable[[Shape, list[Path]], Speed]] = {
    "iostudy": by_engine,
    "fio": by_fio,
    "fio best": by_best_fio,
}

Speeds = Mapping[str, list[Speed]]


def main() -> None:
    """Measure every shape and print two lines for each."""
    with scratch_folder(DISK_BYTES) as folder:
        where = "loop-back ext4, direct I/O below" if os.geteuid() == 0 else f"folder {folder}"
        print(f"{where}; {ROUNDS} rounds of {RUN_SECONDS} s; records of 4 KiB; median thousands")
        print(f"{'':40}" + "".join(f"{name:>10}" for name in PROGRAMS) + "   engine / better fio")
        for shape in SHAPES:
            speeds = measure(shape, folder)
            of_time = {name: [speed.of_time for speed in of] for name, of in speeds.items()}
            busy = {name: [speed.of_processor for speed in of] for name, of in speeds.items()}
            print(_line(f"{shape}: a second", of_time, shape.goal))
            print(_line(f"{shape}: a second of CPU", busy, BUSY_GOAL), flush=True)


def measure(shape: Shape, folder: Path) -> Speeds:
    """What every program reached in every round."""
    paths = [folder / f"part-{index}" for index in range(shape.threads)]
    run_engine(Case("write", True, shape.threads, FILE_BYTES), paths)
    caches.write_dirty_pages()
    speeds: dict[str, list[Speed]] = {name: [] for name in PROGRAMS}
    draw = random.Random(str(shape))
    for _ in range(ROUNDS):
        for name in draw.sample(list(PROGRAMS), len(PROGRAMS)):
            if shape.direct:
                time.sleep(REST_SECONDS)
            else:  # all of it is in the page cache, whoever else drops that
                run_engine(Case("read", False, shape.threads, FILE_BYTES), paths)
            speeds[name].append(PROGRAMS[name](shape, paths))
    for path in paths:
        path.unlink()
    return speeds


def _line(name: str, rates: Mapping[str, list[float]], goal: float) -> str:
    better = max(("fio", "fio best"), key=lambda name: statistics.geometric_mean(rates[name]))
    medians = "".join(f"{statistics.median(rates[name]):10.2f}" for name in PROGRAMS)
    return f"{name:40}{medians}   {format_ratio(better, rates[better], rates['iostudy'], goal)}"


if __name__ == "__main__":
    main()
