"""A drive with less capacity and the same mechanics: every k-th cylinder of the original.

Zones keep their tracks and rates. A seek over all cylinders takes as long as before, a third of
them as long as before, and the adjacent cylinder is as near as before. Caches keep their size.
"""

from __future__ import annotations

from iostudy.errors import UsageError
from iostudy.prober import BLOCK_BYTES
from iostudy.units import format_size
from iostudy_lab.drives import seek
from iostudy_lab.drives.disk import Disk, Shingling, WeakRegion
from iostudy_lab.drives.flash import Flash
from iostudy_lab.drives.zones import Spares, Zone


def scale(drive: Disk | Flash, size_bytes: int) -> Disk | Flash:
    """The drive with that capacity, or itself; UsageError if it is larger or too small."""
    blocks = size_bytes // BLOCK_BYTES
    if blocks > drive.capacity:
        raise UsageError(
            f"a size of at most {format_size(drive.capacity * BLOCK_BYTES)}, as the drive has",
            found=format_size(size_bytes),
            where=drive.name,
            remedy="give a smaller size, or another drive",
        )
    if blocks == drive.capacity:
        return drive
    share = blocks / drive.capacity
    return _scale_flash(drive, share) if isinstance(drive, Flash) else _scale_disk(drive, share)


def _scale_flash(drive: Flash, share: float) -> Flash:
    """Fewer erase blocks per die, and a smaller SLC cache."""
    slc = drive.slc and drive.slc.model_copy(update={"size": round(drive.slc.size * share)})
    return drive.model_copy(update={"capacity": round(drive.capacity * share), "slc": slc})


def _scale_disk(drive: Disk, share: float) -> Disk:
    zones = drive.all_zones()
    cylinders = zones[-1].first_cylinder + zones[-1].cylinders
    scaled = [_scale_zone(zone, share) for zone in zones]
    points = _scale_points(seek.points(drive.seek, cylinders), share)
    shingling = drive.shingling and _scale_shingling(drive.shingling, share)
    regions = tuple(_scale_region(region, share) for region in drive.weak_regions)
    return drive.model_copy(
        update={
            "capacity": round(drive.capacity * share),
            "zones": scaled,
            "seek": points,
            "shingling": shingling,
            "weak_regions": regions,
        }
    )


def _scale_zone(zone: Zone, share: float) -> Zone:
    """Its cylinders, rounded up, so that the zones hold the scaled capacity."""
    end = zone.first_cylinder + zone.cylinders
    first = -int(-zone.first_cylinder * share // 1)
    return zone.model_copy(
        update={
            "first_cylinder": first,
            "cylinders": max(1, -int(-end * share // 1) + 1 - first),
            "reserved": int(zone.reserved * share),
            "spares": zone.spares and _scale_spares(zone.spares, share),
        }
    )


def _scale_spares(spares: Spares, share: float) -> Spares:
    """Smaller regions with as large a share of spare sectors."""
    tracks = max(1, round(spares.tracks * share))
    return Spares(sectors=int(spares.sectors * share), tracks=tracks)


def _scale_points(points: seek.Points, share: float) -> dict[int, int]:
    """Seek times by scaled distance; the shortest seek stays one to the adjacent cylinder."""
    shortest = points[0]
    scaled = {max(2, round(distance * share)): time for distance, time in points[1:]}
    return {shortest[0]: shortest[1]} | scaled


def _scale_region(region: WeakRegion, share: float) -> WeakRegion:
    update = {"start": int(region.start * share), "length": round(region.length * share)}
    return region.model_copy(update=update)


def _scale_shingling(shingling: Shingling, share: float) -> Shingling:
    """Bands keep their size; the persistent cache holds whole bands."""
    bands = max(1, round(shingling.cache * share / shingling.band))
    return shingling.model_copy(update={"cache": bands * shingling.band})
