"""Summary of a drive: names of facts with texts that have units."""

from __future__ import annotations

from iostudy.prober import BLOCK_BYTES
from iostudy.units import format_percent, format_rounded_size, format_significant
from iostudy_lab.drives import seek
from iostudy_lab.drives.disk import Disk
from iostudy_lab.drives.flash import Flash
from iostudy_lab.drives.zones import Zone


def summarize(drive: Disk | Flash) -> list[tuple[str, str]]:
    """Facts of a drive, in the order in which they are printed."""
    facts = [
        ("name", drive.name),
        ("year", str(drive.year)),
        ("capacity", format_rounded_size(drive.capacity * BLOCK_BYTES)),
        *(_disk_facts(drive) if isinstance(drive, Disk) else _flash_facts(drive)),
    ]
    return [*facts, *(("source", source) for source in drive.sources)]


def describe(drive: Disk | Flash) -> str:
    """A drive in one line."""
    size = format_rounded_size(drive.capacity * BLOCK_BYTES)
    if isinstance(drive, Flash):
        return f"{drive.name} ({drive.year}, {size}, flash)"
    kind = "shingled, " if drive.shingling else ""
    return f"{drive.name} ({drive.year}, {size}, {kind}{_rpm(drive)} rpm)"


def _disk_facts(drive: Disk) -> list[tuple[str, str]]:
    zones = drive.all_zones()
    cylinders = zones[-1].first_cylinder + zones[-1].cylinders
    times = dict(seek.points(drive.seek, cylinders))
    cache, queue = drive.cache, drive.queue
    segment = format_rounded_size(cache.segment * BLOCK_BYTES)
    written = format_rounded_size(cache.write_size * BLOCK_BYTES)
    rates = [_rate(drive, zone) for zone in (zones[0], zones[-1])]
    return [
        ("rotation", f"{_rpm(drive)} rpm, {_ms(drive.rotation)} a revolution"),
        ("geometry", f"{drive.surfaces} surfaces, {cylinders} cylinders, {len(zones)} zones"),
        ("sequential rate", f"{rates[0]} in the outer zone, {rates[1]} in the inner zone"),
        ("seek", f"{_ms(min(times.values()))} at least, {_ms(max(times.values()))} at most"),
        ("read cache", f"{cache.read_segments} segments of {segment}"),
        ("write cache", f"on, up to {written}" if cache.write_cache else "off"),
        ("queue", f"{queue.depth} commands, age limit {_ms(queue.age_limit)}"),
        *_special_facts(drive),
    ]


def _special_facts(drive: Disk) -> list[tuple[str, str]]:
    facts = []
    if drive.shingling:
        band, cache = (
            format_rounded_size(blocks * BLOCK_BYTES)
            for blocks in (drive.shingling.band, drive.shingling.cache)
        )
        facts.append(("shingling", f"bands of {band}, persistent cache of {cache}"))
    for region in drive.weak_regions:
        share = format_percent(region.share)
        size = format_rounded_size(region.length * BLOCK_BYTES)
        facts.append(("weak region", f"{size}: {share} of reads wait {region.retries} revolutions"))
    return facts


def _flash_facts(drive: Flash) -> list[tuple[str, str]]:
    facts = [
        ("dies", f"{drive.channels} channels of {drive.dies} dies"),
        ("page", f"{format_rounded_size(drive.page)}, {drive.pages} in an erase block"),
        (
            "times",
            f"read {_ms(drive.read)}, program {_ms(drive.program)}, erase {_ms(drive.erase)}",
        ),
        ("over-provisioning", format_percent(drive.over_provisioning)),
        ("write buffer", format_rounded_size(drive.buffer)),
        ("power-loss protection", "yes" if drive.protected_buffer else "no"),
        ("queue", f"{drive.depth} commands"),
    ]
    if drive.slc:
        facts.append(("SLC cache", format_rounded_size(drive.slc.size)))
    return facts


def _rate(drive: Disk, zone: Zone) -> str:
    """Rate of long reads: a revolution for each track, and the skews between tracks."""
    skews = ((drive.surfaces - 1) * zone.track_skew + zone.cylinder_skew) / zone.sectors
    turns = drive.surfaces + skews
    bytes_per_cylinder = drive.surfaces * zone.sectors * BLOCK_BYTES
    return f"{format_significant(bytes_per_cylinder / turns / drive.rotation * 1e3)} MB/s"


def _rpm(drive: Disk) -> int:
    return round(60e9 / drive.rotation)


def _ms(nanoseconds: int) -> str:
    return f"{format_significant(nanoseconds / 1e6)} ms"
