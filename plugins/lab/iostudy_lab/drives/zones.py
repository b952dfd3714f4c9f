"""Zones of a drive file: measured zones, or zones computed from sustained rates."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from iostudy.prober import BLOCK_BYTES
from iostudy_lab.drives.quantities import Nanoseconds, NonNegative, Positive, Rate
from iostudy_lab.drives.section import DriveSection


class Spares(DriveSection):
    """Spare sectors at the end of each region of ``tracks`` tracks."""

    sectors: NonNegative
    tracks: Positive


class Zone(DriveSection):
    """Adjacent cylinders with equal tracks. Skews and ``offset`` are in sectors."""

    first_cylinder: NonNegative
    cylinders: Positive
    sectors: Positive
    track_skew: float
    cylinder_skew: float
    offset: float = 0.0
    reserved: NonNegative = 0
    spares: Spares | None = None


class PublishedZones(DriveSection):
    """Outer and inner rates; the sectors of a track fall linearly from zone to zone.

    Both are sustained rates, as in data sheets, so they include the time of head switches.
    """

    outer: Rate
    inner: Rate
    count: Annotated[int, Field(ge=1, le=200)]
    track_skew: Nanoseconds
    cylinder_skew: Nanoseconds


def from_rates(rates: PublishedZones, surfaces: int, period: int, blocks: int) -> list[Zone]:
    """Zones of about equally many cylinders that hold at least ``blocks`` blocks."""
    lost = 1 + ((surfaces - 1) * rates.track_skew + rates.cylinder_skew) / surfaces / period
    outer, inner = (
        float(rate) / BLOCK_BYTES * period / 1e9 * lost for rate in (rates.outer, rates.inner)
    )
    sectors = [
        round(outer + (inner - outer) * (index + 0.5) / rates.count) for index in range(rates.count)
    ]
    cylinders = -(-blocks // (sum(sectors) * surfaces))
    return [
        Zone(
            first_cylinder=index * cylinders,
            cylinders=cylinders,
            sectors=number,
            track_skew=rates.track_skew / period * number,
            cylinder_skew=rates.cylinder_skew / period * number,
        )
        for index, number in enumerate(sectors)
    ]


def parameters(zone: Zone, surfaces: int) -> dict[str, Any]:
    """Parameters of the model."""
    whole = Spares(sectors=0, tracks=zone.cylinders * surfaces)
    return zone.model_dump() | {"spares": (zone.spares or whole).model_dump()}
