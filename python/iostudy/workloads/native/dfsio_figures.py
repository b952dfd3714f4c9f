"""Figures of TestDFSIO: their names and units, and their values."""

from __future__ import annotations

import math
import statistics

from iostudy._native import JobResult
from iostudy.workloads.definition import Figure, fixed_figures
from iostudy.workloads.measurement import AGGREGATE, BYTES, EXEC_TIME
from iostudy.workloads.native.latency import latency_figures
from iostudy.workloads.native.rates import mib_per_second


def compute_readings(file_bytes: int, result: JobResult) -> dict[str, float]:
    """Return TestDFSIO's figures for files of which so many bytes each were processed."""
    seconds = result.thread_seconds
    rates = [mib_per_second(file_bytes, each) for each in seconds]
    mean = statistics.fmean(rates)
    return {
        "throughput": mib_per_second(file_bytes * len(seconds), math.fsum(seconds)),
        "average_io_rate": mean,
        "io_rate_stddev": statistics.pstdev(rates, mean),
        EXEC_TIME: result.wall_seconds,
    }


def _figures(of: str) -> tuple[Figure, ...]:
    """Return the figures of TestDFSIO; ``of`` names the bytes."""
    return (
        Figure("throughput", "MiB/s", f"MiB {of} over the sum of the files' times", True),
        Figure("average_io_rate", "MiB/s", f"mean over files of MiB {of} over time", True),
        Figure("io_rate_stddev", "MiB/s", "standard deviation of the files' rates", False),
        Figure(EXEC_TIME, "s", "from first start to last end", False),
    )


MOVING = fixed_figures(
    Figure(AGGREGATE, "MiB/s", "all bytes over the time from first start to last end", True),
    *_figures("moved"),
    Figure(BYTES, "B", "bytes moved", True),
    *latency_figures("a record: its system call, with making its data or verifying it"),
)
TRUNCATING = fixed_figures(
    Figure("truncates", "op/s", "files over the time from first start to last end", True),
    *_figures("cut off"),
    *latency_figures("a file: open, ftruncate(2), fsync if it is on, and close"),
)
