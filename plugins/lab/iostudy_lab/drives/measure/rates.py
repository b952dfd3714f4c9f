"""Rates of sequential reads by position."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from iostudy.prober import BLOCK_BYTES, Request
from iostudy_lab.drives.measure.session import Session

_POSITIONS = 24
_REPEATS = 3
_REQUEST_BLOCKS = 512
_SHORTEST, _LONGEST = 2 << 11, 32 << 11
"""Blocks of a sequential read: 2 MiB to 32 MiB."""
_DRIVE_SHARE = 1 / 2000
_SPACING = 4
"""Least distance between two places, in lengths of a read."""
SMALLEST_BYTES = 2 * _REQUEST_BLOCKS * _SPACING * _POSITIONS * BLOCK_BYTES
"""Size of a drive on which a read at each place is two requests, since the first gives no rate."""


@dataclass(frozen=True)
class RatePoint:
    """Rate of sequential reads at a block, with the smallest and the largest of the repeats."""

    block: int
    bytes_per_second: float
    low: float
    high: float


def measure_rates(session: Session) -> tuple[RatePoint, ...]:
    """Read sequentially at places over the whole drive, which has ``SMALLEST_BYTES`` at least."""
    blocks = session.prober.blocks
    room = blocks // _POSITIONS // _SPACING
    length = int(min(max(_SHORTEST, blocks * _DRIVE_SHARE), _LONGEST, room))
    size = min(_REQUEST_BLOCKS, session.prober.most_blocks)
    points = []
    for index in range(_POSITIONS):
        session.begin("rates", index / _POSITIONS)
        start = session.align((blocks - _REPEATS * length) * index / (_POSITIONS - 1))
        rates = sorted(
            _rate(session, start + repeat * length, length, size) for repeat in range(_REPEATS)
        )
        points.append(RatePoint(start, statistics.median(rates), rates[0], rates[-1]))
    return tuple(points)


def _rate(session: Session, place: int, length: int, size: int) -> float:
    """Bytes a second after the first request, which includes the seek."""
    first = session.align(place)
    requests = [Request("read", first + size * index, size) for index in range(length // size)]
    times = session.run(requests)
    moved = (len(requests) - 1) * size * BLOCK_BYTES
    return moved * 1e9 / max(1, times[-1].end_ns - times[0].end_ns)
