"""Values of traced block requests."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.report.base import Value


class PooledRequests(Value):
    """Requests of one operation on one device, pooled over the counted trials."""

    device: str
    """Name of the device. The tested device has the report's ``device`` in all trials."""
    operation: str
    """``read``, ``write``, ``discard`` or ``flush``."""
    trials: int
    """Number of trials with such requests."""
    count: int
    """Number of requests in these trials."""
    mean_us: FiniteFloat
    """Mean latency from issue to the driver to completion, in microseconds."""
    percentiles_us: dict[str, FiniteFloat]
    """``p50`` to ``max`` in microseconds: upper bounds of buckets 4.4 % wide, at most the
    maximum."""
    upper_us: tuple[FiniteFloat, ...]
    """Upper bounds of the buckets that are not empty, ascending, in microseconds."""
    counts: tuple[int, ...]
    """Requests in each of these buckets."""


class BlockLatencyReport(Value):
    """Requests to the disks under one configuration on one workload."""

    workload: str
    """Label of the workload."""
    configuration: str
    """Label of the configuration."""
    trials: int
    """Number of counted trials that were traced."""
    events: int
    """Events read from the kernel in these trials."""
    lost_events: int
    """Events overwritten before they were read; their requests are missing."""
    unmatched_events: int
    """Issues without a completion, or completions without an issue."""
    requests: tuple[PooledRequests, ...]
    """Requests by device, the target's first, and by operation."""
