"""Random reads a second by queue depth: the gain of the drive's own scheduling."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from iostudy_lab.drives.measure.session import Session

_DEPTHS = (1, 2, 4, 8, 16, 32)
_READS = 200
_READS_PER_DEPTH = 20
_REPEATS = 3
_NEARLY_ALL = 0.95


@dataclass(frozen=True)
class QueuePoint:
    """Rate of random reads at a queue depth, with the smallest and the largest of the repeats."""

    depth: int
    reads_per_second: float
    low: float
    high: float


@dataclass(frozen=True)
class QueueGain:
    """Rates of random reads by queue depth."""

    points: tuple[QueuePoint, ...]

    @property
    def gain(self) -> float:
        """Ratio of the highest rate to that with one read in flight."""
        return self._highest / self.points[0].reads_per_second

    @property
    def depth(self) -> int:
        """Smallest depth with nearly the highest rate."""
        least = _NEARLY_ALL * self._highest
        return next(point.depth for point in self.points if point.reads_per_second >= least)

    @property
    def _highest(self) -> float:
        return max(point.reads_per_second for point in self.points)


def measure_queue(session: Session) -> QueueGain:
    """Read random blocks at several depths."""
    depths = [depth for depth in _DEPTHS if depth <= session.prober.most_depth]
    points = []
    for number, depth in enumerate(depths):
        session.begin("queue", number / len(depths))
        rates = sorted(_rate(session, depth) for _ in range(_REPEATS))
        points.append(QueuePoint(depth, statistics.median(rates), rates[0], rates[-1]))
    return QueueGain(tuple(points))


def _rate(session: Session, depth: int) -> float:
    """Reads a second while the queue is full: without the reads that fill and drain it."""
    number = _READS + _READS_PER_DEPTH * depth
    times = session.run([session.random_read() for _ in range(number)], depth)
    ends = sorted(time.end_ns for time in times)[depth - 1 : number - depth + 1]
    return (len(ends) - 1) * 1e9 / max(1, ends[-1] - ends[0])
