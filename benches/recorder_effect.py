"""Effect of the recorder on a workload's figures, by the project's own verdict.

    python -m benches.recorder_effect

Each block runs every job once with the recorder and once without, in an order drawn afresh; after
the last one every job has its verdict at a margin of 1 %. Equivalent is the goal. The recorder
samples everything at 10 Hz, as in a trial. The disk is in memory, where a job does most in a second
and no other guest slows it; runs are short, as the speed of a shared machine drifts, but of
about a second: what is read less often than the rest is read in each.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.comparisons import compare

from benches.scratch import scratch_folder
from iostudy._native import FileJob
from iostudy.analysis.comparison import Comparison
from iostudy.analysis.rule import Rule
from iostudy.job import JobSpec
from iostudy.node import caches
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.units import MIB

BLOCKS = 120
RUN_SECONDS = 1.0
FILE_BYTES = 1024 * MIB
DISK_BYTES = 1536 * MIB
MEMORY = Path("/dev/shm")


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
        "write 1 GiB": stream,
        "read 1 GiB": replace(reads, direct=True),
        "4 KiB reads, depth 32": replace(small, direct=True, method="io_uring", depth=32),
        "4 KiB reads, cached": small,
    }


RULE = Rule(0.01, 0.05, min_blocks=BLOCKS, max_blocks=BLOCKS, comparisons=len(jobs(Path())))


def main() -> None:
    """Run the blocks, and print a line for each job."""
    with scratch_folder(DISK_BYTES, MEMORY) as folder:
        specs = jobs(folder / "file")
        rates: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in specs}
        for _ in range(BLOCKS):
            for name, spec in specs.items():
                for recorded in random.sample((False, True), 2):
                    rates[name][recorded].append(_rate(spec, recorded=recorded))
    for name, pair in rates.items():
        print(_line(name, compare(*pair, higher_is_better=True, rule=RULE)))


def _rate(spec: JobSpec, *, recorded: bool) -> float:
    """Records a second; a job that writes starts without anything dirty."""
    caches.write_dirty_pages()
    with _recorder(recorded=recorded):
        done = FileJob(spec).run()
    counted = done.write if spec.operation == "write" else done.read
    return counted.latencies.count / done.wall_seconds


@contextmanager
def _recorder(*, recorded: bool) -> Iterator[None]:
    if not recorded:
        yield
        return
    recorder = ProcRecorder(None, [os.getpid()])
    recorder.start()
    yield
    recorder.stop()


def _line(name: str, comparison: Comparison) -> str:
    low, high = (100 * end for end in comparison.change_interval)
    change = f"{100 * comparison.change:+.2f} % [{low:+.2f}, {high:+.2f}] with the recorder"
    return f"{name:24} {change}: {comparison.verdict} at 1 % after {comparison.blocks} blocks"


if __name__ == "__main__":
    main()
