"""Seek times by distance, from the largest delay that still meets the same revolution.

After a read of one block, the host waits and reads another one. While the delay is short, the
second read completes at the same time, when its sector passes. A delay too long costs a revolution
more. At the boundary no rotational delay is left: the response is seek and processing alone
(N. Talagala et al.: Microbenchmark-based extraction of local and global disk characteristics,
UCB/CSD-99-1063, find least responses of writes by their distance in blocks).
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from iostudy_lab.drives.measure.layout import DiskLayout, Skews
from iostudy_lab.drives.measure.session import Probe, Session

_STEPS = 10
"""Bisections of a revolution: to a thousandth of it."""
_TRIES = 8
_PAIRS = 8
_NEAR_PAIRS = 16
"""Pairs of short seeks, of which noise is a larger share."""
_NEAR = 32
"""Cylinders up to which the distance is exact, within a zone."""
_GROWTH = 1.4
_FAR = (0.5, 0.625)
"""Shares of a track; the rest must take longer than the processing of a command."""
_EQUAL = 1 / 16
"""Share of a revolution by which equal times may differ."""


@dataclass(frozen=True)
class SeekPoint:
    """Seek time over a distance, with the range of its middle half."""

    cylinders: int
    time_ns: float
    low_ns: float
    high_ns: float


@dataclass(frozen=True)
class SeekCurve:
    """Seek times in ascending order of distance."""

    overhead_ns: float
    """Least response of a read of the smallest size without a seek."""
    points: tuple[SeekPoint, ...]


def measure_seeks(session: Session, layout: DiskLayout, period_ns: float) -> SeekCurve | None:
    """Measure seeks over distances from one cylinder to the full stroke."""
    finder = _Finder(session, period_ns)
    still = [
        finder.least_response(*_same_track(session, skew, share), hit_is_late=True)
        for skew in layout.skews
        for share in _FAR
    ]
    distances = _distances(layout.cylinders)
    pairs = [
        (distance, pair) for distance in distances for pair in _pairs(session, layout, distance)
    ]
    moving = [finder.least_response(*pair) for _, pair in pairs]
    least = session.interleave("seeks", [*still, *moving])
    overheads = [time for time in least[: len(still)] if time is not None]
    responses: dict[int, list[float]] = defaultdict(list)
    for (distance, _), response in zip(pairs, least[len(still) :], strict=True):
        if response is not None:
            responses[distance].append(response)
    if not overheads or not responses:
        return None
    overhead = statistics.median(overheads)
    points = (_point(distance, overhead, times) for distance, times in sorted(responses.items()))
    return SeekCurve(overhead, tuple(points))


def _point(distance: int, overhead: float, responses: Sequence[float]) -> SeekPoint:
    times = sorted(max(0.0, response - overhead) for response in responses)
    quarter = len(times) // 4
    return SeekPoint(distance, statistics.median(times), times[quarter], times[-1 - quarter])


def _distances(cylinders: int) -> list[int]:
    """1, 2, 3, 4, 6... and the full stroke."""
    distances = [1]
    while distances[-1] < cylinders - 1:
        distances.append(min(cylinders - 1, max(distances[-1] + 1, round(distances[-1] * _GROWTH))))
    return distances


def _same_track(session: Session, skews: Skews, share: float) -> tuple[int, int]:
    """A block of a track and the track's first one, which passes before the head leaves the track.

    Some drives keep what passes before the first block: the track's first one then is a hit, unless
    the head arrives between the two, so they are far apart.
    """
    start = skews.cylinder_start()
    here = start + skews.track.blocks * share
    return session.align(here), session.align(start + session.prober.unit - 1)


def _pairs(session: Session, layout: DiskLayout, distance: int) -> list[tuple[int, int]]:
    """Pairs of blocks at a distance, in both directions."""
    pairs = _near_pairs(layout, distance) if distance <= _NEAR else []
    while len(pairs) < _PAIRS:
        cylinder = session.random.randrange(layout.cylinders - distance)
        pairs.append(
            (_block_in(session, layout, cylinder), _block_in(session, layout, cylinder + distance))
        )
    number = _NEAR_PAIRS if distance <= _NEAR else _PAIRS
    chosen = session.random.sample(pairs, min(number, len(pairs)))
    turned = [pair[::-1] if index % 2 else pair for index, pair in enumerate(chosen)]
    return [(session.align(here), session.align(there)) for here, there in turned]


def _block_in(session: Session, layout: DiskLayout, cylinder: int) -> int:
    """Random block of a cylinder."""
    return layout.block_of(cylinder + session.random.random() * 0.99)


def _near_pairs(layout: DiskLayout, distance: int) -> list[tuple[int, int]]:
    """Pairs on tracks in the middle of cylinders, in one zone."""
    pairs = []
    for skews in layout.skews:
        zone = layout.zone_of(skews.track.start)
        here = skews.cylinder_start() + layout.heads // 2 * skews.track.blocks
        there = here + distance * layout.cylinder_blocks(zone)
        if there < zone.end_block:
            pairs.append((here, there))
    return pairs


@dataclass(frozen=True)
class _Finder:
    session: Session
    period_ns: float

    def least_response(
        self, here: int, there: int, *, hit_is_late: bool = False
    ) -> Probe[float | None]:
        """Least response of a read after a read elsewhere; None if hits prevent it.

        On the track of the first read, read-ahead may read the sector as it passes, so that a read
        too late is a hit.
        """
        first = yield from self._first_gap(here, there)
        if first is None:
            return None
        low, high = 0.0, self.period_ns
        for _ in range(_STEPS):
            delay = (low + high) / 2
            late = yield from self._is_late(here, there, delay, first)
            if late is None and not hit_is_late:
                return None
            if late is False:
                low = delay
            else:
                high = delay
        return first - (low + high) / 2

    def _first_gap(self, here: int, there: int) -> Probe[float | None]:
        for _ in range(_TRIES):
            gap = yield from self._gap(here, there, 0)
            if gap is not None:
                return gap
        return None

    def _is_late(self, here: int, there: int, delay_ns: float, first: float) -> Probe[bool | None]:
        """Whether the second read takes a revolution more. None if it is a hit, or noise."""
        for _ in range(_TRIES):
            gap = yield from self._gap(here, there, delay_ns)
            for late, wanted in ((False, first), (True, first + self.period_ns)):
                if gap is not None and abs(gap - wanted) < self.period_ns * _EQUAL:
                    return late
        return None

    def _gap(self, here: int, there: int, delay_ns: float) -> Probe[float | None]:
        """Time from the end of the first read to the end of the second; None for a hit."""
        requests = [
            self.session.random_read(),
            self.session.read(here),
            self.session.read(there, delay_ns),
        ]
        _, first, second = yield requests
        if self.session.is_hit(first) or self.session.is_hit(second):
            return None
        return second.end_ns - first.end_ns
