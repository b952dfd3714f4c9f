"""Tracks around a block: sectors, boundaries and skews, from the angles of blocks.

The angle of a block is the time of a read's completion modulo the revolution. Within a track it
grows with each block by the time of a sector; between tracks it jumps by the skew. So angles give
the layout without long transfers, which the interface may slow down.
"""

from __future__ import annotations

from dataclasses import dataclass

from iostudy_lab.drives.measure.session import Probe, Session

_TRIES = 20
_PLACES = 4
_REPEATS = 3
_SAME = 1 / 60
"""Share of a revolution by which angles of equal tracks may differ; skews are larger."""


@dataclass(frozen=True)
class Angles:
    """Reads angles of blocks on a drive with this revolution."""

    session: Session
    period_ns: float

    def read(self, block: float) -> Probe[float]:
        """Angle of a block as a time: the median of reads from the medium, on the circle."""
        times: list[float] = []
        for _ in range(_TRIES):
            [timing] = yield [self.session.read(block)]
            if not self.session.is_hit(timing):
                times.append(timing.end_ns % self.period_ns)
            if len(times) == _REPEATS:
                break
        if not times:
            return float("nan")
        near = sorted(self.turn(end - times[0]) for end in times)
        return (times[0] + near[len(near) // 2]) % self.period_ns

    def turn(self, difference: float) -> float:
        """Difference of angles between minus and plus half a revolution."""
        half = self.period_ns / 2
        return (difference + half) % self.period_ns - half


@dataclass(frozen=True)
class Slope:
    """Blocks of one track from ``block`` on."""

    block: int
    angle_ns: float
    sector_ns: float
    """Growth of the angle per block."""
    same: int
    """Distance of the farthest block that is known to be on the track."""
    other: int
    """Distance of a block that is known to be on another track."""


def read_slope(angles: Angles, block: float) -> Probe[Slope | None]:
    """Find the time of a sector by doubling the distance until a track boundary is crossed.

    None if no boundary is found, or the reads find no constant growth.
    """
    for _ in range(3):
        slope = yield from _double(angles, angles.session.align(block))
        if slope is None:
            return None
        if slope.same * slope.sector_ns > angles.period_ns / 5:
            return slope
        block = slope.block + slope.other  # the boundary is near: begin behind it
    return None


def _double(angles: Angles, block: int) -> Probe[Slope | None]:
    """Angles at distances of 1, 2, 4... units."""
    start = yield from angles.read(block)
    distance, sector = angles.session.prober.unit, 0.0
    same = 0
    while block + distance < angles.session.prober.blocks:
        angle = yield from angles.read(block + distance)
        growth = angles.turn(angle - start - distance * sector)
        if same and abs(growth) > angles.period_ns * _SAME * 1.5:
            return Slope(block, start, sector, same, distance)
        sector += growth / distance
        if sector * distance > 2 * angles.period_ns:
            return None
        same, distance = distance, distance * 2
    return None


def find_boundary(angles: Angles, slope: Slope) -> Probe[int]:
    """First block of the next track, by bisection."""
    unit = angles.session.prober.unit
    low, high = slope.same // unit, slope.other // unit
    while high - low > 1:
        middle = (low + high) // 2
        distance = middle * unit
        angle = yield from angles.read(slope.block + distance)
        growth = angles.turn(angle - slope.angle_ns - distance * slope.sector_ns)
        if abs(growth) < angles.period_ns * _SAME:
            low = middle
        else:
            high = middle
    return slope.block + high * unit


@dataclass(frozen=True)
class Track:
    """A whole track."""

    start: int
    """First block."""
    blocks: int
    """Blocks of the host."""
    sectors: float
    """Sectors: a revolution over the time of a sector."""

    @property
    def whole_sectors(self) -> int:
        """Sectors, at least the blocks. A difference below half a percent is noise."""
        sectors = round(self.sectors)
        return sectors if sectors > self.blocks * 1.005 else self.blocks


def find_track(angles: Angles, block: float, room: float) -> Probe[Track | None]:
    """Find a track within ``room`` blocks after a block; spare sectors and noise hide some."""
    for number in range(_PLACES):
        track = yield from _find_track(angles, block + room * number / _PLACES)
        if track is not None:
            return track
    return None


def _find_track(angles: Angles, block: float) -> Probe[Track | None]:
    """Find the boundaries of a track, and its sectors from the growth of angles within it."""
    slope = yield from read_slope(angles, block)
    if slope is None:
        return None
    start = yield from find_boundary(angles, slope)
    angle = yield from angles.read(start)
    whole = angles.period_ns / slope.sector_ns
    inside = angles.session.align(0.85 * whole)
    far = yield from angles.read(start + inside)
    growth = angles.turn(far - angle - inside * slope.sector_ns)
    if abs(growth) > angles.period_ns * _SAME:
        return None
    sector = slope.sector_ns + growth / inside
    unit = angles.session.prober.unit
    beyond = (int(1.03 * whole) // unit + 2) * unit
    end = yield from find_boundary(angles, Slope(start, angle, sector, inside, beyond))
    return Track(start, end - start, angles.period_ns / sector)


def read_skews(angles: Angles, track: Track, tracks: int) -> Probe[list[float]]:
    """Skews between the track and those after it, as times."""
    times: list[float] = []
    middle = track.start + track.blocks // 4
    before = yield from angles.read(middle)
    for number in range(1, tracks + 1):
        angle = yield from angles.read(middle + number * track.blocks)
        times.append((angle - before) % angles.period_ns)
        before = angle
    return times
