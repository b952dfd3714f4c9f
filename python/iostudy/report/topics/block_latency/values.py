"""Values of traced block requests."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.report.base import Value


class PooledRequests(Value):
    """Requests of one device that do the same, pooled over the trials that count."""

    device: str
    """The one under test by the report's ``device``, whatever each trial called it."""
    operation: str
    """``read``, ``write``, ``discard`` or ``flush``."""
    trials: int
    """In how many trials there were any."""
    count: int
    """In all of them."""
    mean_us: FiniteFloat
    """From the issue of a request to the driver to its completion: the mean of all requests."""
    percentiles_us: dict[str, FiniteFloat]
    """``p50`` to ``max``: upper bounds of their buckets, which are 4.4 % wide, but none beyond the
    longest."""
    upper_us: tuple[FiniteFloat, ...]
    """Upper bounds of the buckets that are not empty, ascending, in microseconds."""
    counts: tuple[int, ...]
    """Requests in each of these buckets."""


class BlockLatencyReport(Value):
    """What the disks were asked for under one configuration on one workload."""

    workload: str
    configuration: str
    trials: int
    """Trials that count and were traced."""
    events: int
    """How many were read from the kernel in these trials."""
    lost_events: int
    """How many were overwritten before that: their requests are missing."""
    unmatched_events: int
    """Ends of requests whose other end was not seen."""
    requests: tuple[PooledRequests, ...]
    """Device by device, from the top."""
