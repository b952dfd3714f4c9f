"""Values of traced block requests."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.report.base import Value


class PooledRequests(Value):
    """Requests of one device that do the same, pooled over the trials that count."""

    device: str
    """The tested device has the name in the report's ``device`` in all trials."""
    operation: str
    """``read``, ``write``, ``discard`` or ``flush``."""
    trials: int
    """Number of trials with any."""
    count: int
    """Total over these trials."""
    mean_us: FiniteFloat
    """Mean latency of all requests, from their issue to the driver to their completion."""
    percentiles_us: dict[str, FiniteFloat]
    """``p50`` to ``max``: upper bounds of their buckets, which are 4.4 % wide, but none beyond the
    longest."""
    upper_us: tuple[FiniteFloat, ...]
    """Upper bounds of the buckets that are not empty, ascending, in microseconds."""
    counts: tuple[int, ...]
    """Requests in each of these buckets."""


class BlockLatencyReport(Value):
    """Requests to the disks under one configuration on one workload."""

    workload: str
    configuration: str
    trials: int
    """Trials that count and were traced."""
    events: int
    """Events read from the kernel in these trials."""
    lost_events: int
    """Events overwritten before they were read: their requests are missing."""
    unmatched_events: int
    """Starts or ends of requests without a counterpart."""
    requests: tuple[PooledRequests, ...]
    """Device by device, from the top."""
