"""Layout of a disk: zones, tracks, cylinders and skews."""

from __future__ import annotations

import bisect
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from iostudy_lab.drives.measure.session import Probe, Session
from iostudy_lab.drives.measure.tracks import Angles, Track, find_track, read_skews

_REGIONS = 48
_END, _ROOM = 0.1, 0.05
"""Distance of the outermost places from the ends of the drive, and room to search a track, in
regions."""
_SKEW_REGIONS = 16
_SKEW_TRACKS = 64
"""Tracks in a row; two cylinders of 32 surfaces."""
_BISECTIONS = 5
_DIFFERENT_SKEW = 0.01
"""Share of a revolution by which the skew between cylinders differs from that between tracks."""
_AGREEMENT = 0.6


@dataclass(frozen=True)
class Skews:
    """Skews in the region of a track, as times, and the surfaces that their pattern shows."""

    track: Track
    between_tracks_ns: float
    between_cylinders_ns: float | None
    cylinder_tracks: tuple[int, ...]
    """Distances in tracks to the first tracks of cylinders."""

    def surfaces(self) -> int | None:
        """Most frequent distance between the starts of cylinders, if most of them have it."""
        distances = Counter(later - earlier for earlier, later in pairwise(self.cylinder_tracks))
        if not distances:
            return None
        distance, number = distances.most_common(1)[0]
        return distance if number >= _AGREEMENT * distances.total() else None

    def cylinder_start(self) -> int:
        """First block of a cylinder."""
        first = self.cylinder_tracks[0] if self.cylinder_tracks else 0
        return self.track.start + first * self.track.blocks


@dataclass(frozen=True)
class MeasuredZone:
    """Adjacent blocks with tracks of one length."""

    first_block: int
    end_block: int
    track_blocks: int
    sectors: int
    track_skew_ns: float
    cylinder_skew_ns: float
    sector_ns: float

    @property
    def track_skew(self) -> float:
        """Skew between tracks, in sectors."""
        return self.track_skew_ns / self.sector_ns

    @property
    def cylinder_skew(self) -> float:
        """Skew between cylinders, in sectors."""
        return self.cylinder_skew_ns / self.sector_ns


@dataclass(frozen=True)
class DiskLayout:
    """Layout of a disk."""

    surfaces: int | None
    """None if the skews of most regions show no common pattern."""
    zones: tuple[MeasuredZone, ...]
    skews: tuple[Skews, ...]

    @property
    def heads(self) -> int:
        """Tracks of a cylinder; 1 if the surfaces are unknown."""
        return self.surfaces or 1

    def cylinder_blocks(self, zone: MeasuredZone) -> int:
        """Blocks of a cylinder of a zone."""
        return self.heads * zone.track_blocks

    def zone_cylinders(self) -> list[int]:
        """Cylinders of each zone, rounded up."""
        return [
            -(-(zone.end_block - zone.first_block) // self.cylinder_blocks(zone))
            for zone in self.zones
        ]

    @property
    def cylinders(self) -> int:
        """Cylinders of all zones."""
        return sum(self.zone_cylinders())

    def block_of(self, cylinder: float) -> int:
        """A block of a cylinder, counted over all zones."""
        for zone, number in zip(self.zones, self.zone_cylinders(), strict=True):
            if cylinder < number:
                return zone.first_block + int(cylinder * self.cylinder_blocks(zone))
            cylinder -= number
        return self.zones[-1].end_block - 1

    def zone_of(self, block: int) -> MeasuredZone:
        """Zone of a block."""
        ends = [zone.end_block for zone in self.zones]
        return self.zones[min(bisect.bisect_right(ends, block), len(ends) - 1)]


def measure_layout(session: Session, angles: Angles) -> DiskLayout | None:
    """Find tracks over the whole drive, zone boundaries and skews. None if tracks are not found."""
    distance = session.prober.blocks / _REGIONS
    places = [(index + 0.5) * distance for index in range(_REGIONS)]
    ends = [distance * _END, session.prober.blocks - distance * _END]
    probes = [find_track(angles, block, distance * _ROOM) for block in [ends[0], *places, ends[1]]]
    tracks = session.interleave("tracks", probes)
    measured = [track for track in tracks if track is not None]
    if len(measured) < _REGIONS // 2:
        return None
    intact = _without_errors(measured)
    step = -(-len(intact) // _SKEW_REGIONS)
    runs = [_find_skews(angles, track) for track in intact[::step]]
    skews = _with_cylinders(session.interleave("skews", runs), angles.period_ns)
    changes = [pair for pair in pairwise(intact) if _differ(*pair)]
    more = session.interleave("zones", [_find_change(angles, *pair) for pair in changes])
    starts = [*intact, *(skew for group in more for skew in group)]
    starts = _without_errors(sorted(starts, key=lambda skew: skew.start))
    surfaces = _count_surfaces(skews)
    # Skews across the end of a zone, or across spare sectors, show another pattern or none. If no
    # number of surfaces has a majority, perhaps none is left: all are used then.
    skews = [skew for skew in skews if skew.surfaces() == surfaces] or skews
    zones = _zones(starts, skews, session.prober.blocks, angles.period_ns)
    return DiskLayout(surfaces, tuple(zones), tuple(skews))


def _differ(one: Track, other: Track) -> bool:
    return (one.blocks, one.whole_sectors) != (other.blocks, other.whole_sectors)


def _without_errors(tracks: Sequence[Track]) -> list[Track]:
    """Tracks without those that differ from equal neighbours: noise moved a boundary."""
    return [
        track
        for before, track, after in zip(
            [tracks[0], *tracks], tracks, [*tracks[1:], tracks[-1]], strict=False
        )
        if _differ(before, after) or not _differ(before, track)
    ]


def _find_change(angles: Angles, first: Track, last: Track) -> Probe[list[Track]]:
    """Tracks around the place where the length of tracks changes, by bisection."""
    boundaries = []
    for _ in range(_BISECTIONS):
        room = (last.start - first.start) / 8
        track = yield from find_track(angles, (first.start + last.start) / 2, room)
        if track is None:
            break
        boundaries.append(track)
        if _differ(first, track):
            last = track
        else:
            first = track
    return boundaries


def _find_skews(angles: Angles, track: Track) -> Probe[tuple[Track, list[float]]]:
    skews = yield from read_skews(angles, track, _SKEW_TRACKS)
    return track, skews


def _with_cylinders(measured: Sequence[tuple[Track, list[float]]], period_ns: float) -> list[Skews]:
    """Skews between tracks, and the larger ones between cylinders."""
    zones = []
    for track, skews in measured:
        usual = statistics.median(skews)
        larger = [
            index
            for index, skew in enumerate(skews)
            if abs(skew - usual) > period_ns * _DIFFERENT_SKEW
        ]
        between = statistics.median(skews[index] for index in larger) if larger else None
        zones.append(Skews(track, usual, between, tuple(index + 1 for index in larger)))
    return zones


def _count_surfaces(skews: Sequence[Skews]) -> int | None:
    """Most frequent number of surfaces among the regions, if most regions show one."""
    counts = Counter(skew.surfaces() for skew in skews)
    surfaces, number = counts.most_common(1)[0]
    return surfaces if number >= _AGREEMENT * len(skews) else None


def _zones(
    tracks: Sequence[Track], skews: Sequence[Skews], blocks: int, period_ns: float
) -> list[MeasuredZone]:
    """Runs of equal tracks; a zone ends in the middle between two different tracks."""
    starts = [0]
    firsts = [tracks[0]]
    for before, after in pairwise(tracks):
        if _differ(before, after):
            starts.append((before.start + after.start) // 2)
            firsts.append(after)
    zones = []
    for start, end, track in zip(starts, [*starts[1:], blocks], firsts, strict=True):
        near = _nearest(skews, track.start)
        between = near.between_cylinders_ns
        zones.append(
            MeasuredZone(
                start,
                end,
                track.blocks,
                track.whole_sectors,
                near.between_tracks_ns,
                near.between_tracks_ns if between is None else between,
                period_ns / track.whole_sectors,
            )
        )
    return zones


def _nearest(skews: Sequence[Skews], block: int) -> Skews:
    return min(skews, key=lambda skew: abs(skew.track.start - block))
