"""Replays of traces against the kernel as root.

    python -m benches.trace_replay [PRESET]

Each workload runs under schedulers of the kernel, on a modelled drive as a block device. From each
trace under ``none`` the dependences are inferred, compared with the known ones where the workload
has such, and replayed in the simulator under every scheduler. The simulator also runs the workload
itself, without a trace, which separates the errors of the replay from those of the models. A
duration is that from the first bio to the last completion. A run during which the model of the
drive was late counts, and is marked.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from tests.fixtures_tracefs import mounted_tracefs

from benches.simulator_validation import kernel, model
from benches.simulator_validation.cases import FILE_BYTES
from iostudy._native import EventJobs, FileJob, SimulatedDisk, TraceReplay
from iostudy.job import JobSpec, Method, Operation, Order
from iostudy.units import GIB, KIB, MIB
from iostudy_trace.dependences import infer_dependences
from iostudy_trace.matching import MatchedTrace
from iostudy_trace.replay_threads import build_replay_threads

PRESET, SIZE_BYTES = "ultrastar-7k8", 4 * GIB
SCHEDULERS = ("none", "mq-deadline", "bfq")
RUNS = 3
RECORD_BYTES = 16 * KIB
_SECONDS = 1e-9


@dataclass(frozen=True)
class Case:
    """A workload; ``depth`` is that of its threads if their dependences are known."""

    name: str
    make: Callable[[Sequence[Path], int], FileJob | EventJobs]
    depth: int | None = None


def file_job(
    threads: int,
    record_bytes: int,
    records: int,
    *,
    order: Order = "random",
    operation: Operation = "read",
    method: Method = "psync",
    depth: int = 1,
    think: float = 1e-3,
    direct: bool = True,
) -> Callable[[Sequence[Path], int], FileJob]:
    """Threads with a file each that move a number of records."""

    def make(files: Sequence[Path], seed: int) -> FileJob:
        return FileJob(
            JobSpec(
                threads=tuple((str(path),) for path in files[:threads]),
                operation=operation,
                file_bytes=FILE_BYTES,
                record_bytes=record_bytes,
                order=order,
                method=method,
                depth=depth,
                direct=direct,
                total_bytes=records * record_bytes,
                think_seconds=think,
                seed=seed,
                verify=False,
            )
        )

    return make


def event_jobs(files: Sequence[Path], seed: int) -> EventJobs:
    """Eight buffered jobs that read events and compute, with their files."""
    paths = [str(path) for path in files[:8]]
    jobs = EventJobs(
        paths,
        jobs=8,
        events_per_job=12,
        event_bytes=1760 * KIB,
        gap_bytes=440 * KIB,
        reads=16,
        compute="sleep",
        compute_seconds=0.05,
        seconds=60.0,
        direct=False,
        seed=seed,
    )
    spec = JobSpec(
        threads=(tuple(paths),),
        operation="write",
        file_bytes=jobs.file_bytes,
        record_bytes=MIB,
        sync="fsync",
        seed=seed,
    )
    FileJob(spec).run()
    return jobs


CASES = (
    Case("8 random readers of 16 KiB", file_job(8, RECORD_BYTES, 250), 1),
    Case(
        "4 threads with 4 random reads of 16 KiB under way",
        file_job(4, RECORD_BYTES, 500, method="io_uring", depth=4, think=0.0),
        4,
    ),
    Case(
        "8 random readers and writers of 16 KiB",
        file_job(8, RECORD_BYTES, 250, operation="mix"),
        1,
    ),
    Case(
        "4 buffered streams of 1 MiB",
        file_job(4, MIB, 32, order="sequential", think=0.0, direct=False),
    ),
    Case("8 buffered event jobs", event_jobs),
)


def main() -> None:
    """Print a row for each workload and scheduler."""
    preset = sys.argv[1] if len(sys.argv) > 1 else PRESET
    with (
        mounted_tracefs(),
        tempfile.TemporaryDirectory() as folder,
        kernel.prepare(Path(folder), preset, SIZE_BYTES) as host,
    ):
        disk = model.build_disk(host.model, host.places())
        for case in CASES:
            _compare(host, disk, case)


def _compare(host: kernel.Kernel, disk: SimulatedDisk, case: Case) -> None:
    runs = {
        scheduler: [_run(host, case, scheduler, seed) for seed in range(RUNS)]
        for scheduler in SCHEDULERS
    }
    traces = [trace for trace, _ in runs["none"]]
    if case.depth is not None:
        _print_dependences(case, traces)
    for scheduler in SCHEDULERS:
        real = [_seconds(trace) for trace, _ in runs[scheduler]]
        late = sum(bool(invalid) for _, invalid in runs[scheduler])
        replays = [_replay(host, disk, trace, scheduler, at) for at, trace in enumerate(traces)]
        simulations = [_simulate(host, disk, case, scheduler, seed) for seed in range(RUNS)]
        print(
            f"{case.name}, {scheduler}: kernel {_format(real)}, {late} of {len(real)} runs late; "
            f"replay {_format(replays)}, {fmean(replays) / fmean(real) - 1:+.1%}; "
            f"without a trace {_format(simulations)}, {fmean(simulations) / fmean(real) - 1:+.1%}",
            flush=True,
        )


def _format(seconds: Sequence[float]) -> str:
    return f"{fmean(seconds):.2f} s [{min(seconds):.2f}, {max(seconds):.2f}]"


def _run(host: kernel.Kernel, case: Case, scheduler: str, seed: int) -> tuple[MatchedTrace, str]:
    job = case.make(host.files, seed)
    recorded = host.record(job, scheduler)
    assert not recorded.trace.lost, recorded.trace.lost
    return recorded.trace, recorded.drive.invalid_reason()


def _seconds(trace: MatchedTrace) -> float:
    start = min(bio.queued_ns for bio in trace.bios)
    return (max(bio.completed_ns or 0 for bio in trace.bios) - start) * _SECONDS


def _replay(
    host: kernel.Kernel, disk: SimulatedDisk, trace: MatchedTrace, scheduler: str, seed: int
) -> float:
    (device,) = {bio.device for bio in trace.bios}
    replay = TraceReplay(build_replay_threads(trace, device))
    result, _ = disk.replay_trace(replay, host.setup(scheduler, seed))
    return result.seconds


def _simulate(
    host: kernel.Kernel, disk: SimulatedDisk, case: Case, scheduler: str, seed: int
) -> float:
    _, counters, _ = disk.run([case.make(host.files, seed)], host.setup(scheduler, seed))
    return dict(counters)["seconds"]


def _print_dependences(case: Case, traces: Sequence[MatchedTrace]) -> None:
    """Compare inferred with known counts: bio i waits for i + 1 - depth completions.

    Bios of other sizes are the file system's.
    """
    missed = exact = total = excess = 0
    for trace in traces:
        threads = {bio.pid for bio in trace.bios if bio.command.startswith("io-")}
        bios = [bio for bio in trace.bios if bio.bytes == RECORD_BYTES and bio.pid in threads]
        for thread in infer_dependences(bios, 0).values():
            for index, bio in enumerate(thread):
                known = max(0, index + 1 - (case.depth or 0))
                missed += bio.after < known
                exact += bio.after == known
                excess += max(0, bio.after - known)
                total += 1
    print(
        f"{case.name}: of {total} bios {missed} wait for too few completions, {exact / total:.1%} "
        f"for as many as known, the others for {excess / max(1, total - exact - missed):.2f} more",
        flush=True,
    )


if __name__ == "__main__":
    main()
