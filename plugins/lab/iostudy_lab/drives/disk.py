"""Drive file of a disk drive."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from iostudy.prober import BLOCK_BYTES
from iostudy_lab.drives import seek as seek_times
from iostudy_lab.drives import zones as zone_list
from iostudy_lab.drives.quantities import (
    Blocks,
    BlockTime,
    Nanoseconds,
    NonNegative,
    Period,
    Share,
    SignedNanoseconds,
)
from iostudy_lab.drives.section import DriveSection


class Overhead(DriveSection):
    """Processing time of a command, by the command before it."""

    after_read: Nanoseconds
    after_write: Nanoseconds


class Overheads(DriveSection):
    """Processing times of the controller."""

    read_hit: Overhead
    read_miss: Overhead
    write_hit: Overhead
    write_miss: Overhead
    read_completion: Nanoseconds = 0
    write_completion: Nanoseconds = 0
    flush: Nanoseconds = 0


class Interface(DriveSection):
    """Connection to the host."""

    rate: BlockTime
    read_watermark: Share = 0.0
    holds_for_write: bool = False


class Cache(DriveSection):
    """Read cache and write cache."""

    read_segments: Annotated[int, Field(ge=1, le=256)]
    segment: Blocks
    read_ahead: Literal["nowhere", "track", "next-track", "segment", "whole-track"]
    read_ahead_limit: Blocks
    read_ahead_replaces_request: bool = True
    read_ahead_after_hit: bool = True
    keep_passing_sectors: bool = False
    zero_latency_reads: bool = False
    zero_latency_writes: bool = False
    write_cache: bool
    write_size: Blocks
    write_extents: Annotated[int, Field(ge=1)]
    written_segments: NonNegative = 0


class CommandQueue(DriveSection):
    """Command queue."""

    depth: Annotated[int, Field(ge=1, le=256)]
    age_limit: Nanoseconds


class WeakRegion(DriveSection):
    """Part of the drive with read retries."""

    start: Blocks
    length: Blocks
    share: Share
    retries: NonNegative


class Shingling(DriveSection):
    """Drive-managed shingled recording."""

    band: Blocks
    cache: Blocks
    idle: Nanoseconds


class Disk(DriveSection):
    """A disk drive."""

    family: Literal["disk"]
    name: str
    year: int
    sources: Annotated[list[str], Field(min_length=1)]
    capacity: Blocks
    rotation: Period
    surfaces: Annotated[int, Field(ge=1, le=64)]
    serpentine: bool = False
    zones: Annotated[list[zone_list.Zone], Field(min_length=1)] | zone_list.PublishedZones
    seek: seek_times.SeekTable | seek_times.PublishedSeek
    head_switch: Nanoseconds
    write_settle: SignedNanoseconds
    overheads: Overheads
    interface: Interface
    cache: Cache
    queue: CommandQueue
    weak_regions: tuple[WeakRegion, ...] = ()
    shingling: Shingling | None = None

    @model_validator(mode="after")
    def _check_zones(self) -> Self:
        """Refuse zones that overlap."""
        end = 0
        for zone in self.all_zones():
            if zone.first_cylinder < end:
                raise ValueError(
                    f"a zone begins at cylinder {zone.first_cylinder}, inside the zone before it, "
                    f"which ends at {end - 1}; list zones in ascending order"
                )
            end = zone.first_cylinder + zone.cylinders
        return self

    @property
    def size_bytes(self) -> int:
        """Capacity for the host."""
        return self.capacity * BLOCK_BYTES

    @property
    def depth(self) -> int:
        """Most commands in the drive."""
        return self.queue.depth

    @property
    def rotates(self) -> bool:
        """Whether it is a disk."""
        return True

    def all_zones(self) -> list[zone_list.Zone]:
        """Zones, from the outer one."""
        if isinstance(self.zones, list):
            return self.zones
        return zone_list.from_rates(self.zones, self.surfaces, self.rotation, self._medium_blocks())

    def _medium_blocks(self) -> int:
        return self.capacity + (self.shingling.cache if self.shingling else 0)

    def parameters(self) -> dict[str, Any]:
        """Parameters of the model: times in nanoseconds, sizes in blocks."""
        all_zones = self.all_zones()
        cylinders = all_zones[-1].first_cylinder + all_zones[-1].cylinders
        return {
            "family": "disk",
            "surfaces": self.surfaces,
            "period": self.rotation,
            "capacity": self._medium_blocks(),
            "serpentine": self.serpentine,
            "zones": [zone_list.parameters(zone, self.surfaces) for zone in all_zones],
            "seek": seek_times.points(self.seek, cylinders),
            "head_switch": self.head_switch,
            "write_settle": self.write_settle,
            "overheads": self.overheads.model_dump(),
            "bus": _rename(self.interface, rate="block_time"),
            "cache": _rename(
                self.cache,
                segment="segment_blocks",
                read_ahead_limit="read_ahead_blocks",
                write_size="write_blocks",
            ),
            "queue": self.queue.model_dump(),
            "weak_regions": [_region(region) for region in self.weak_regions],
            "shingling": self.shingling
            and _rename(self.shingling, band="band_blocks", cache="cache_blocks"),
        }


def _rename(section: DriveSection, **names: str) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in section.model_dump().items()}


def _region(region: WeakRegion) -> dict[str, Any]:
    end = region.start + region.length
    return {"start": region.start, "end": end, "share": region.share, "retries": region.retries}
