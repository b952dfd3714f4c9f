"""Workloads that run under the kernel and in the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.job import JobSpec, Operation, Order
from iostudy.units import KIB, MIB

SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq")
FILES, FILE_BYTES = 48, 32 * MIB
RAMP_SECONDS, SECONDS = 2.0, 8.0
"""The ramp covers the first samples of the schedulers' estimates."""


@dataclass(frozen=True)
class Case:
    """Threads with files of their own, past the page cache, by default with pauses of 1 ms."""

    name: str
    threads: int
    record_bytes: int
    order: Order
    operation: Operation = "read"
    thread_files: int = 1
    think_seconds: float = 1e-3

    def spec(self, files: Sequence[Path], seed: int) -> JobSpec:
        """Return the job over the first files."""
        paths = [str(path) for path in files]
        starts = range(0, self.threads * self.thread_files, self.thread_files)
        return JobSpec(
            threads=tuple(tuple(paths[start : start + self.thread_files]) for start in starts),
            operation=self.operation,
            file_bytes=FILE_BYTES,
            record_bytes=self.record_bytes,
            order=self.order,
            direct=True,
            seconds=SECONDS,
            ramp_seconds=RAMP_SECONDS,
            think_seconds=self.think_seconds,
            seed=seed,
            verify=False,
        )


def _streams(name: str, threads: int, record_bytes: int) -> Case:
    """Return streams over all files, which last longer than a run."""
    return Case(
        name,
        threads,
        record_bytes,
        "sequential",
        thread_files=FILES // threads,
        think_seconds=0.0,
    )


CASES = (
    Case("8 random readers of 16 KiB", 8, 16 * KIB, "random"),
    Case("48 random readers of 4 KiB", 48, 4 * KIB, "random"),
    Case("4 streams of 64 KiB", 4, 64 * KIB, "sequential"),
    Case("8 random readers and writers of 16 KiB", 8, 16 * KIB, "random", "mix"),
    _streams("4 streams of 128 KiB without pause", 4, 128 * KIB),
    _streams("12 streams of 64 KiB without pause", 12, 64 * KIB),
)
