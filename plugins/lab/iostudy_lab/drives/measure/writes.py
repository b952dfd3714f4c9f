"""Write cache, cost of a flush, settling before writes, and places that move when written.

These measurements overwrite blocks all over the drive.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iostudy.prober import Request, Timing
from iostudy_lab.drives.measure.layout import DiskLayout
from iostudy_lab.drives.measure.session import Session
from iostudy_lab.drives.measure.tracks import Angles

_WRITES = 60
_PAUSE_NS = 50_000_000
_FLUSHED = (1, 2, 4, 8, 16, 32)
_FLUSH_REPEATS = 5
_MOST_ABSORBED = 16384
_CACHED_SHARE = 0.25
"""Share of a revolution that a cached write takes at most; a write to the medium takes longer."""
_WAITING = 3
"""Writes in a row that wait when the cache is full; a single one may be noise."""
_LARGE_BLOCKS = 256
_MOVED_PLACES = 24
_MOVED_SHARE = 1 / 60


@dataclass(frozen=True)
class FlushCost:
    """Line through the times of a flush after a number of random writes."""

    fixed_ns: float
    per_write_ns: float
    points: tuple[tuple[int, float], ...]
    """Number of writes and median time of the flush."""


@dataclass(frozen=True)
class Writes:
    """What writes show."""

    response_ns: float
    """Median response of random writes of the smallest size, with pauses between them."""
    forced_response_ns: float
    """Median response of random writes that wait for the medium (force unit access)."""
    cached: bool
    flush: FlushCost
    absorbed_writes: int | None
    """Random writes that are cached before one waits; None without a write cache."""
    absorbed_writes_complete: bool
    absorbed_blocks: int | None
    """Blocks of larger writes at random places that are cached before one waits."""
    absorbed_blocks_complete: bool
    moved: int
    """Blocks that had another angle after they were written."""
    compared: int

    @property
    def moves(self) -> bool:
        """Whether written blocks move, as in shingled recording."""
        return self.moved * 2 > self.compared > 0


def measure_writes(session: Session, layout: DiskLayout, angles: Angles) -> Writes:
    """Overwrite random blocks of the drive."""
    session.begin("writes", 0.0)
    period = angles.period_ns
    moved, compared = _count_moved(session, layout, angles)
    session.begin("writes", 0.3)
    unit = session.prober.unit
    cached_writes = [_random_write(session, unit, _PAUSE_NS) for _ in range(_WRITES)]
    response = _median(session.run(cached_writes))
    forced = [write._replace(operation="fua") for write in cached_writes]
    cached = response < period * _CACHED_SHARE
    session.begin("writes", 0.5)
    flush = _flush_cost(session)
    session.begin("writes", 0.8)
    small = _absorbed(session, unit, period) if cached else None
    size = min(_LARGE_BLOCKS, session.prober.most_blocks)
    large = _absorbed(session, size, period) if cached else None
    return Writes(
        response_ns=response,
        forced_response_ns=_median(session.run(forced)),
        cached=cached,
        flush=flush,
        absorbed_writes=small and small[0],
        absorbed_writes_complete=small is not None and small[1],
        absorbed_blocks=large and large[0] * size,
        absorbed_blocks_complete=large is not None and large[1],
        moved=moved,
        compared=compared,
    )


def _median(times: Sequence[Timing]) -> float:
    return statistics.median(time.response_ns for time in times)


def _random_write(session: Session, blocks: int, idle_ns: int = 0) -> Request:
    last = session.prober.blocks - blocks
    return Request("write", session.align(session.random.randrange(last)), blocks, idle_ns)


_FLUSH = Request("flush", 0, 0)


def _flush_cost(session: Session) -> FlushCost:
    """Times of flushes after random writes, and the line through them."""
    unit = session.prober.unit
    points = []
    for number in _FLUSHED:
        times = []
        for _ in range(_FLUSH_REPEATS):
            writes = [_random_write(session, unit) for _ in range(number)]
            times.append(session.run([*writes, _FLUSH])[-1].response_ns)
        points.append((number, float(statistics.median(times))))
    slope, intercept = np.polyfit([n for n, _ in points], [time for _, time in points], 1)
    return FlushCost(max(0.0, float(intercept)), max(0.0, float(slope)), tuple(points))


def _absorbed(session: Session, blocks: int, period_ns: float) -> tuple[int, bool]:
    """Random writes before the first that waits, and whether one waited.

    The drive writes some of them to the medium meanwhile, so its cache may hold fewer.
    """
    session.run([_FLUSH])
    count, step = 1, 64
    transfer = session.run([_random_write(session, blocks)])[0].response_ns
    waited = transfer + period_ns * _CACHED_SHARE
    while count < _MOST_ABSORBED:
        times = session.run([_random_write(session, blocks) for _ in range(step)])
        waits = [timing.response_ns > waited for timing in times]
        for index in range(step - _WAITING):
            if all(waits[index : index + _WAITING]):
                return count + index, True
        count += step
    return count, False


def _count_moved(session: Session, layout: DiskLayout, angles: Angles) -> tuple[int, int]:
    """Blocks whose angle changes when they are written, of those compared.

    Other writes follow, so that no cache holds the written blocks.
    """
    step = max(1, len(layout.skews) // _MOVED_PLACES)
    blocks = [skew.track.start for skew in layout.skews[::step]]
    before = session.interleave("places", [angles.read(block) for block in blocks])
    unit = session.prober.unit
    session.run([Request("fua", block, unit) for block in blocks])
    others = [_random_write(session, unit) for _ in range(session.distinct_reads)]
    session.run([*(other._replace(operation="fua") for other in others), _FLUSH])
    after = session.interleave("places", [angles.read(block) for block in blocks])
    changes = [
        abs(angles.turn(new - old)) for old, new in zip(before, after, strict=True) if new == new
    ]
    return sum(change > angles.period_ns * _MOVED_SHARE for change in changes), len(changes)
