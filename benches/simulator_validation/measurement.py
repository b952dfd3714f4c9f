"""Figures of a run, under the kernel or on the virtual clock."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy._native import JobResult


@dataclass(frozen=True)
class Measurement:
    """Operations a second, and the 99th percentile of the latency of reads."""

    rate: float
    p99_ms: float


def summarize(result: JobResult, record_bytes: int) -> Measurement:
    """Return the figures of a job."""
    (p99_us,) = result.read.latencies.percentiles_us([99])
    return Measurement(result.bytes / record_bytes / result.wall_seconds, p99_us / 1e3)
