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
    """Threads with a file each, past the page cache, with a pause of a millisecond."""

    name: str
    threads: int
    record_bytes: int
    order: Order
    operation: Operation = "read"

    def spec(self, files: Sequence[Path], seed: int) -> JobSpec:
        """Return the job over the first files."""
        return JobSpec(
            threads=tuple((str(path),) for path in files[: self.threads]),
            operation=self.operation,
            file_bytes=FILE_BYTES,
            record_bytes=self.record_bytes,
            order=self.order,
            direct=True,
            seconds=SECONDS,
            ramp_seconds=RAMP_SECONDS,
            think_seconds=1e-3,
            seed=seed,
            verify=False,
        )


CASES = (
    Case("8 random readers of 16 KiB", 8, 16 * KIB, "random"),
    Case("48 random readers of 4 KiB", 48, 4 * KIB, "random"),
    Case("4 streams of 64 KiB", 4, 64 * KIB, "sequential"),
    Case("8 random readers and writers of 16 KiB", 8, 16 * KIB, "random", "mix"),
)
