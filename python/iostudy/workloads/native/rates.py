"""Rates and latencies of a native job, by direction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from iostudy import units
from iostudy._native import IoStats, JobResult, Latencies
from iostudy.errors import WorkloadError
from iostudy.job import Operation
from iostudy.workloads.definition import Figure
from iostudy.workloads.measurement import Histogram
from iostudy.workloads.native.latency import compact_histogram

Direction = Literal["read", "write"]


def directions(operation: Operation) -> tuple[Direction, ...]:
    """Return the directions in which an operation moves records."""
    return ("read", "write") if operation == "mix" else (operation,)


def tally(result: JobResult, direction: Direction) -> IoStats:
    """Return the counts of that direction."""
    return result.read if direction == "read" else result.write


def mib_per_second(moved_bytes: int, seconds: float) -> float:
    """A bandwidth in MiB/s."""
    return moved_bytes / units.MIB / seconds


def rate_figures(of: str, prefix: str = "") -> tuple[Figure, ...]:
    """Return the figures of `rate_readings`; ``of`` names the records: "all records"."""
    return (
        Figure(f"{prefix}bandwidth", "MiB/s", f"bytes of {of} over the run's time", True),
        Figure(f"{prefix}iops", "op/s", f"number of {of} over the run's time", True),
    )


def rate_readings(
    result: JobResult, wanted: Sequence[Direction], prefix: str = ""
) -> dict[str, float]:
    """Bandwidth and records a second of these directions together."""
    stats = [tally(result, direction) for direction in wanted]
    return rates(stats, result.wall_seconds, prefix)


def rates(stats: Sequence[IoStats], seconds: float, prefix: str = "") -> dict[str, float]:
    """Bandwidth and records a second of several statistics together."""
    records = sum(stat.latencies.count for stat in stats)
    return {
        f"{prefix}bandwidth": mib_per_second(sum(stat.bytes for stat in stats), seconds),
        f"{prefix}iops": records / seconds,
    }


def operations(
    result: JobResult, wanted: Sequence[Direction], *, syncs: bool
) -> dict[str, Latencies]:
    """Return the latencies of every operation of a run, by its name in figures and histograms."""
    latencies: dict[str, Latencies] = {name: tally(result, name).latencies for name in wanted}
    return latencies | {"sync": result.sync} if syncs else latencies


def histograms(counted: dict[str, Latencies]) -> dict[str, Histogram]:
    """Return the histogram of every operation."""
    return {name: compact_histogram(latencies) for name, latencies in counted.items()}


def require_counted(counted: dict[str, Latencies], where: Path) -> None:
    """WorkloadError if one of the operations was never done in the time that counts."""
    missing = [name for name, latencies in counted.items() if not latencies.count]
    if missing:
        raise WorkloadError(
            "figures of a whole run",
            found=f"no {' and no '.join(missing)} was done in the time that counts",
            where=str(where),
            remedy="give a shorter ramp, a longer duration or a larger total",
        )
