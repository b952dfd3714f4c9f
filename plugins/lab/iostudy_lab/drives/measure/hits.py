"""Response times of cache hits: processing time of the controller and rate of the interface."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np

from iostudy.prober import BLOCK_BYTES, Request
from iostudy_lab.drives.measure.session import Session

_REPEATS = 15
_SIZES = (1, 8, 16, 32, 64)
"""Sizes of reads, in units. Larger ones need not fit into a segment."""
_LEAST_MARGIN_NS = 8e3
_SPREADS = 8
"""Margin of hits, in median deviations."""
_LEAST_BLOCK_NS = 1.0
"""Smaller slopes are not distinguishable from none: 512 GB/s."""


@dataclass(frozen=True)
class Hits:
    """Responses of reads from the cache."""

    overhead_ns: float
    """Response of a hit of no size: intercept of the line through the responses."""
    block_ns: float
    """Time per block of 512 bytes: its slope."""
    range_ns: tuple[float, float]
    """Responses of hits of the smallest size. Some drives answer short misses faster."""

    @property
    def rate(self) -> float:
        """Bytes per second of the interface."""
        return BLOCK_BYTES * 1e9 / self.block_ns


def measure_hits(session: Session, period_ns: float) -> Hits | None:
    """Read blocks twice in a row. None if the second read waits for the medium too."""
    unit = session.prober.unit
    times = sorted(_read_twice(session, unit) for _ in range(_REPEATS))
    hit = statistics.median(times)
    if hit > period_ns / 2:
        return None
    spread = statistics.median(abs(response - hit) for response in times)
    margin = max(_LEAST_MARGIN_NS, _SPREADS * spread)
    responses = [(size * unit, _median_hit(session, size * unit)) for size in _SIZES]
    cached = [(size, response) for size, response in responses if response < hit + period_ns / 2]
    slope, intercept = np.polyfit([size for size, _ in cached], [time for _, time in cached], 1)
    line = max(0.0, float(intercept)), max(_LEAST_BLOCK_NS, float(slope))
    return Hits(*line, (hit - margin, hit + margin))


def _median_hit(session: Session, blocks: int) -> float:
    return statistics.median(_read_twice(session, blocks) for _ in range(_REPEATS))


def _read_twice(session: Session, blocks: int) -> int:
    """Response of a read that repeats the one before it, at a random block."""
    block = session.align(session.random.randrange(session.prober.blocks - blocks))
    request = Request("read", block, blocks)
    return session.run([request, request])[1].response_ns
