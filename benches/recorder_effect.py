"""What recording does to the figures of a workload, by the project's own verdict.

    python -m benches.recorder_effect

Each block runs every job once with the recorder and once without, in an order drawn afresh; blocks
go on until every job has a verdict at a margin of 1 %, or the time is up. Equivalent is the goal.
The recorder samples everything at 10 Hz, as in a trial.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benches.scratch import scratch_folder
from iostudy._native import FileJob
from iostudy.analysis.verdict import Comparison, Rule, Verdict, compare
from iostudy.job import JobSpec
from iostudy.node import caches
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.units import MIB

RULE = Rule(margin=0.01, risk=0.05, min_blocks=10, max_blocks=200)
LONGEST_SECONDS = 240
RUN_SECONDS = 0.5
FILE_BYTES = 64 * MIB
DISK_BYTES = 512 * MIB


def jobs(path: Path) -> Mapping[str, JobSpec]:
    """Streams of whole files, and requests of 4 KiB at the highest rate there is."""
    stream = JobSpec(
        threads=((str(path),),),
        operation="write",
        create=True,
        file_bytes=FILE_BYTES,
        record_bytes=MIB,
        seed=0,
    )
    reads = replace(stream, operation="read", create=False)
    small = replace(reads, record_bytes=4096, order="random", seconds=RUN_SECONDS)
    return {
        "write 64 MiB": stream,
        "read 64 MiB": replace(reads, direct=True),
        "4 KiB reads, depth 32": replace(small, direct=True, method="io_uring", depth=32),
        "4 KiB reads, cached": small,
    }


def main() -> None:
    """Run blocks until all is decided, and print a line for each job."""
    with scratch_folder(DISK_BYTES) as folder:
        specs = jobs(folder / "file")
        rates: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in specs}
        until = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < until and (open_jobs := _undecided(rates)):
            for name in open_jobs:
                for recorded in random.sample((False, True), 2):
                    rates[name][recorded].append(_rate(specs[name], recorded=recorded))
    for name in specs:
        print(_line(name, _judged(*rates[name])))


def _rate(spec: JobSpec, *, recorded: bool) -> float:
    """Records a second; a job that writes starts without anything dirty."""
    caches.write_out()
    with _recorder(recorded=recorded):
        done = FileJob(spec).run()
    counted = done.write if spec.operation == "write" else done.read
    return counted.latencies.count / done.wall_seconds


@contextmanager
def _recorder(*, recorded: bool) -> Iterator[None]:
    if not recorded:
        yield
        return
    recorder = ProcRecorder(None)
    recorder.start()
    yield
    recorder.stop()


def _judged(without: list[float], with_it: list[float]) -> Comparison:
    return compare(without, with_it, higher_is_better=True, rule=RULE)


def _undecided(rates: Mapping[str, tuple[list[float], list[float]]]) -> list[str]:
    judged = {name: _judged(*pair) for name, pair in rates.items()}
    return [
        name
        for name, told in judged.items()
        if told.verdict is Verdict.INCONCLUSIVE and told.blocks < RULE.max_blocks
    ]


def _line(name: str, told: Comparison) -> str:
    low, high = (100 * end for end in told.change_interval)
    change = f"{100 * told.change:+.2f} % [{low:+.2f}, {high:+.2f}] with the recorder"
    return f"{name:24} {change}: {told.verdict} at 1 % after {told.blocks} blocks"


if __name__ == "__main__":
    main()
