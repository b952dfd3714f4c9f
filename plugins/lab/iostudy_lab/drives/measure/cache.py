"""Read cache: number and size of segments, and the end of read-ahead."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from iostudy.prober import Request
from iostudy_lab.drives.measure.layout import DiskLayout, MeasuredZone
from iostudy_lab.drives.measure.session import Probe, Session

_MOST_SEGMENTS = 1024
_REPEATS = 7
_PROBES = 8
_AGREEING = 2
_LONGEST = 1 << 18
"""Blocks of read-ahead up to which is searched: 128 MiB."""
_TOLERANCE = 0.1
"""Share of a track by which measured ends of read-ahead may differ from a track's end."""

ReadAheadEnd = Literal["nowhere", "track", "next-track", "segment"]


@dataclass(frozen=True)
class ReadCache:
    """Read cache."""

    segments: int
    """Distinct reads that the cache holds."""
    segments_complete: bool
    """False if the cache held every read that was tried."""
    segment_blocks: int
    segment_complete: bool
    """False if no read was large enough to fill a segment."""
    read_ahead_blocks: int
    """Blocks that the drive reads after a small read at the start of a track."""
    read_ahead_end: ReadAheadEnd
    keeps_request: bool
    """Whether the requested blocks are held when read-ahead has ended."""

    @property
    def blocks(self) -> int:
        """Blocks of all segments."""
        return self.segments * self.segment_blocks


@dataclass(frozen=True)
class _Held:
    """Blocks in the cache after a read and its read-ahead, as distances from the read's first."""

    first: int
    end: int


def measure_cache(session: Session, layout: DiskLayout, period_ns: float) -> ReadCache:
    """Measure the read cache on tracks of a known place."""
    segments, complete = _count_segments(session)
    prober = _CacheProber(session, period_ns)
    places = [
        (skew.cylinder_start(), layout.zone_of(skew.cylinder_start()))
        for skew in layout.skews[:_PROBES]
    ]
    starts = [prober.read_ahead(block, zone) for block, zone in places]
    middles = [prober.read_ahead(block + zone.track_blocks // 2, zone) for block, zone in places]
    responses = session.interleave("read-ahead", [*starts, *middles])
    from_start, from_middle = responses[: len(starts)], responses[len(starts) :]
    track = [zone.track_blocks for _, zone in places]
    ahead = round(statistics.median(from_start))
    held = session.interleave(
        "segments", [prober.segment(block, zone, ahead) for block, zone in places]
    )
    usual = sorted(held, key=lambda zone: zone[0].end - zone[0].first)[len(held) // 2]
    return ReadCache(
        segments=segments,
        segments_complete=complete,
        segment_blocks=usual[0].end - usual[0].first,
        segment_complete=usual[0].first > 0,
        read_ahead_blocks=ahead,
        read_ahead_end=_end(from_start, from_middle, track),
        keeps_request=usual[1],
    )


def _end(starts: Sequence[int], middles: Sequence[int], tracks: Sequence[int]) -> ReadAheadEnd:
    """Where read-ahead ends, as a place on the track or as a size."""
    shares = [start / track for start, track in zip(starts, tracks, strict=True)]
    shifts = [(s - m) / t for s, m, t in zip(starts, middles, tracks, strict=True)]
    whole, shift = statistics.median(shares), statistics.median(shifts)
    if whole == 0:
        return "nowhere"
    if abs(shift - 0.5) < _TOLERANCE:
        return "track" if whole < 1 + _TOLERANCE else "next-track"
    return "segment"


def _count_segments(session: Session) -> tuple[int, bool]:
    """Read distinct blocks, then the same in reverse order: the newest of them are hits."""
    number = 64
    while True:
        counts = [_count_held(session, number) for _ in range(_REPEATS)]
        count = round(statistics.median(counts))
        if count < number * 0.9 or number >= _MOST_SEGMENTS:
            return count, count < number
        number *= 4


def _count_held(session: Session, number: int) -> int:
    """Hits before the change from hits to misses, at the place that explains most reads."""
    reads = [session.random_read() for _ in range(number)]
    times = session.run([*reads, *reversed(reads)])[number:]
    best = score = count = 0
    for index, timing in enumerate(times, 1):
        score += 1 if session.is_hit(timing) else -1
        if score > best:
            best, count = score, index
    return count


@dataclass(frozen=True)
class _CacheProber:
    session: Session
    period_ns: float

    def read_ahead(self, block: int, zone: MeasuredZone) -> Probe[int]:
        """Blocks of read-ahead after a read of the smallest size."""
        return (yield from self._end(block, self.session.prober.unit, zone))

    def segment(self, block: int, zone: MeasuredZone, ahead: int) -> Probe[tuple[_Held, bool]]:
        """Blocks that a segment holds at most, and whether it keeps a small request.

        Reads of more and more blocks, until the first of them are no longer held.
        """
        unit = self.session.prober.unit
        size, keeps = unit, True
        while True:
            end = size + (yield from self._end(block, size, zone))
            first = yield from self._first(block, size, end, zone)
            if size == unit:
                keeps = first == 0
            following = max(2 * size, ahead // unit * unit)
            if first > 0 or following > self.session.prober.most_blocks:
                return _Held(first, end), keeps
            size = following

    def _end(self, block: int, size: int, zone: MeasuredZone) -> Probe[int]:
        """Blocks after a read of ``size`` blocks that become hits."""
        unit = self.session.prober.unit
        low, high = 0, 1
        while high * unit < _LONGEST and (
            yield from self._held(block, size, size + (high - 1) * unit, zone)
        ):
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            if (yield from self._held(block, size, size + (middle - 1) * unit, zone)):
                low = middle
            else:
                high = middle
        return low * unit

    def _first(self, block: int, size: int, end: int, zone: MeasuredZone) -> Probe[int]:
        """Distance of the first block that is held."""
        unit = self.session.prober.unit
        if (yield from self._held(block, size, 0, zone)):
            return 0
        low, high = 0, end // unit - 1
        while high - low > 1:
            middle = (low + high) // 2
            if (yield from self._held(block, size, middle * unit, zone)):
                high = middle
            else:
                low = middle
        return high * unit

    def _held(self, block: int, size: int, distance: int, zone: MeasuredZone) -> Probe[bool]:
        """Whether the block at a distance is held when read-ahead has had time for it.

        Two of three reads decide, since a late host makes a hit look like a miss.
        """
        hits = misses = 0
        while max(hits, misses) < _AGREEING:
            if (yield from self._hit(block, size, distance, zone)):
                hits += 1
            else:
                misses += 1
        return hits > misses

    def _hit(self, block: int, size: int, distance: int, zone: MeasuredZone) -> Probe[bool]:
        tracks = (size + distance) / zone.track_blocks
        idle = self.period_ns * (4 + 3 * tracks)
        read = Request("read", self.session.align(block), size)
        _, timing = yield [read, self.session.read(block + distance, idle)]
        return self.session.is_hit(timing)
