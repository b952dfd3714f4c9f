"""Cost of recording a trace: rate of requests, lost events, size and memory.

    python -m benches.trace_cost

Records of 4 KiB are read at random past the page cache from a loop-back disk in memory, with one
under way, and with 32 of each of two threads. Each round does that with and without a recording in
another thread, in an order drawn afresh; ratios are taken within a round. Memory is the largest of
`iostudy trace record` with reads one after the other. Root only.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import threading
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from tests.fixtures_tracefs import mounted_tracefs

from benches.random_reads import DISK_BYTES, MEMORY, SHAPES, name_files, prepare_reads
from benches.ratio import format_ratio
from benches.scratch import scratch_folder
from iostudy._native import FileJob
from iostudy.host import stack
from iostudy.host.devices import BlockDevice
from iostudy.job import JobSpec
from iostudy.settings.trace_instance import TraceInstance
from iostudy.settings.transaction.transaction import Transaction
from iostudy_trace.block_trace import BlockTrace
from iostudy_trace.record import PURPOSE
from iostudy_trace.trace_file import write_trace

ROUNDS, RUN_SECONDS = 40, 0.25
READS, REPEATS = 50_000, (1, 8)
GOAL = 0.9


@dataclass(frozen=True)
class Run:
    """Requests a second, and what was recorded."""

    rate: float
    events: int = 0
    lost: int = 0
    file_bytes: int = 0


def main() -> None:
    """Measure both shapes and the memory."""
    with mounted_tracefs(), scratch_folder(DISK_BYTES, MEMORY) as folder:
        (device,) = stack.top_devices(folder)
        for threads, depth in SHAPES:
            _measure(folder, device, threads, depth)
        for repeats in REPEATS:
            _measure_memory(device, repeats)


def _measure(folder: Path, device: BlockDevice, threads: int, depth: int) -> None:
    paths = name_files(folder, threads)
    spec = prepare_reads(paths, depth, RUN_SECONDS)
    runs: dict[bool, list[Run]] = defaultdict(list)
    for _ in range(ROUNDS):
        for traced in random.sample((False, True), 2):
            runs[traced].append(_trace(spec, device) if traced else Run(_rate(spec)))
    for path in paths:
        path.unlink()
    rates = {traced: [run.rate for run in group] for traced, group in runs.items()}
    events, lost = (sum(getattr(run, name) for run in runs[True]) for name in ("events", "lost"))
    size = sum(run.file_bytes for run in runs[True]) / events
    print(
        f"{threads} threads, depth {depth}: {statistics.median(rates[False]):,.0f} requests a "
        f"second; traced: {format_ratio('without', rates[False], rates[True], GOAL)}; "
        f"{lost} of {events + lost} events lost; {size:.1f} bytes an event in the file",
        flush=True,
    )


def _rate(spec: JobSpec) -> float:
    done = FileJob(spec).run()
    return done.read.latencies.count / done.wall_seconds


def _trace(spec: JobSpec, device: BlockDevice) -> Run:
    path = MEMORY / f"trace-cost-{os.getpid()}"
    ended = threading.Event()
    instance = TraceInstance.prepare([device], PURPOSE)
    try:
        with Transaction() as made, path.open("wb") as file:
            made.apply(instance)
            with BlockTrace(instance.path, instance.events, {}) as trace:
                batches = trace.read(ended.is_set)
                writer = threading.Thread(target=write_trace, args=(batches, file))
                writer.start()
                rate = _rate(spec)
                ended.set()
                writer.join()
        return Run(rate, trace.events, trace.lost, path.stat().st_size)
    finally:
        path.unlink(missing_ok=True)


def _measure_memory(device: BlockDevice, repeats: int) -> None:
    out = MEMORY / f"trace-cost-{os.getpid()}.parquet"
    read = f"dd if={device.path} of=/dev/null bs=4k count={READS} iflag=direct status=none"
    repeat = f"for _ in $(seq {repeats}); do {read}; done"
    record = ["trace", "record", "--unsafe-folders", "--device", device.name, "--out", str(out)]
    command = [sys.executable, "-m", "iostudy", *record, "--", "sh", "-c", repeat]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None, "it is a pipe"
    message = child.stderr.read().splitlines()[-1].partition(": ")[2]
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    out.unlink()
    print(f"{message}: at most {usage.ru_maxrss / 1024:.0f} MiB of memory", flush=True)


if __name__ == "__main__":
    main()
