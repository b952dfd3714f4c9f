"""Cost of tracing block requests, and agreement with the kernel's counters.

    python -m benches.block_events

Records of 4 KiB are read at random past the page cache from a loop-back disk that is in memory, so
that there are as many requests a second as this machine can make: one under way, and 32 of each of
two threads. Each round does that with and without the recording of `bench --block-latency`, in an
order drawn afresh, in both cases with the recorder that every trial has; ratios are taken within a
round. Root only.

Processor time is that of the whole machine by /proc/stat, without idle time and waiting: it holds
the kernel's side of tracing, which is in nobody's account, but also all that others do. What an
event takes of it is the difference of the medians for a request, over the two events of a request;
what the reader takes is by its thread's own clock.
"""

from __future__ import annotations

import os
import random
import statistics
from dataclasses import dataclass
from pathlib import Path

from tests.fixtures_tracefs import mounted_tracefs

from benches.random_reads import DISK_BYTES, MEMORY, SHAPES, name_files, prepare_reads
from benches.ratio import format_ratio
from benches.scratch import scratch_folder
from iostudy._native import FileJob
from iostudy.host import stack
from iostudy.host.devices import BlockDevice
from iostudy.host.files import write_attribute
from iostudy.job import JobSpec
from iostudy.settings.trace_instance import BLOCK_EVENTS, TraceInstance
from iostudy.settings.transaction.transaction import Transaction
from iostudy.telemetry.block_events import BlockEvents, CombinedRecorder
from iostudy.telemetry.recorder import ProcRecorder, Recorder
from iostudy.telemetry.summary import BlockRequests
from iostudy.workloads.native.latency import compact_histogram

ROUNDS = 120
RUN_SECONDS = 0.1
"""Short, and many: what disturbs the machine then disturbs both runs of a round."""
EVENTS_A_REQUEST = 2
GOAL = 0.95
"""Of the rate without: traced, a disk of this speed still gives at least so much."""


@dataclass(frozen=True)
class Run:
    """Requests a second, processor time of the whole machine for each, and what was traced."""

    rate: float
    busy_ns: float
    requests: BlockRequests | None
    reads: int
    read_ms: int


def main() -> None:
    """Measure both shapes and print what was found."""
    if os.geteuid() != 0:
        raise SystemExit("block requests are traced by root only")
    with mounted_tracefs(), scratch_folder(DISK_BYTES, MEMORY) as folder:
        (device,) = stack.top_devices(folder)
        print(f"{device.name}: {ROUNDS} rounds of {RUN_SECONDS} s; 4 KiB at random, O_DIRECT")
        for threads, depth in SHAPES:
            plain, traced = measure(folder, device, threads, depth)
            name = f"{threads} thread{'s' * (threads > 1)}, depth {depth}"
            _print_result(name, plain, traced)


def measure(
    folder: Path, device: BlockDevice, threads: int, depth: int
) -> tuple[list[Run], list[Run]]:
    """The runs without and with tracing, round by round."""
    paths = name_files(folder, threads)
    spec = prepare_reads(paths, depth, RUN_SECONDS)
    runs: dict[bool, list[Run]] = {False: [], True: []}
    draw = random.Random(f"{threads} {depth}")
    plain, names = ProcRecorder([device.name]), {device.number: device.name}
    instance = TraceInstance.prepare([device])
    with Transaction() as made, made.apply_temporarily(instance):
        for _ in range(ROUNDS):
            for traced in draw.sample((False, True), 2):
                for name in BLOCK_EVENTS:
                    enable = instance.path / "events/block" / name / "enable"
                    write_attribute(enable, "1" if traced else "0")
                events = BlockEvents(instance.path, names, compact_histogram)
                recorder = CombinedRecorder(plain, events) if traced else plain
                runs[traced].append(run(spec, recorder, device))
    for path in paths:
        path.unlink()
    return runs[False], runs[True]


def run(spec: JobSpec, recorder: Recorder, device: BlockDevice) -> Run:
    """One run by the engine's own clock."""
    recorder.start()
    before, busy = _counters(device), _busy_seconds()
    done = FileJob(spec).run()
    busy_seconds, after = _busy_seconds() - busy, _counters(device)
    telemetry = recorder.stop()
    count = done.read.latencies.count
    reads, read_ms = (late - early for early, late in zip(before, after, strict=True))
    busy_ns = busy_seconds * 1e9 / count
    return Run(count / done.wall_seconds, busy_ns, telemetry.summary.requests, reads, read_ms)


def _print_result(name: str, plain: list[Run], traced: list[Run]) -> None:
    rates = [[measured.rate for measured in runs] for runs in (plain, traced)]
    ratio = format_ratio("without", *rates, GOAL)
    busy = [statistics.median(measured.busy_ns for measured in runs) for runs in (plain, traced)]
    requests = [measured.requests for measured in traced if measured.requests is not None]
    events = sum(request.events for request in requests)
    lost = sum(request.lost for request in requests)
    reader_ns = sum(request.reader_cpu_seconds for request in requests) * 1e9 / events
    print(f"{name}: {statistics.median(rates[0]):,.0f} requests a second; traced: {ratio}")
    per_busy = [[1e9 / measured.busy_ns for measured in runs] for runs in (plain, traced)]
    print(f"  requests a second of processor time: {format_ratio('without', *per_busy, GOAL)}")
    print(
        f"  processor time of an event: {(busy[1] - busy[0]) / EVENTS_A_REQUEST:,.0f} ns in all, "
        f"{reader_ns:,.0f} ns of it to read and match; {lost} of {events + lost} events lost"
    )
    counted, awaited = _compare_with_counters(traced)
    print(f"  requests seen / counted by the kernel {counted:.6f}, mean / r_await {awaited:.3f}")


def _compare_with_counters(traced: list[Run]) -> tuple[float, float]:
    """Requests, and the sum of their latencies, over what /sys/block/*/stat counts of the runs."""
    reads = [
        read
        for measured in traced
        if measured.requests is not None
        for operations in measured.requests.devices.values()
        for operation, read in operations.items()
        if operation == "read"
    ]
    count = sum(read.count for read in reads)
    seconds = sum(read.count * read.mean_us for read in reads) / 1e6
    counted = sum(measured.reads for measured in traced)
    counted_seconds = sum(measured.read_ms for measured in traced) / 1e3
    return count / counted, seconds / counted_seconds


def _counters(device: BlockDevice) -> tuple[int, int]:
    """Reads, and milliseconds that they took."""
    fields = (Path("/sys/block") / device.name / "stat").read_text().split()
    return int(fields[0]), int(fields[3])


def _busy_seconds() -> float:
    """Of all processors together, since the boot."""
    ticks = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    idle, waiting = ticks[3:5]
    return (sum(ticks) - idle - waiting) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
