"""Drive file of a measurement, with the measured intervals as comments."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.prober import BLOCK_BYTES
from iostudy_lab.drives.measure.cache import ReadCache
from iostudy_lab.drives.measure.hits import Hits
from iostudy_lab.drives.measure.layout import DiskLayout, MeasuredZone
from iostudy_lab.drives.measure.result import DriveMeasurement
from iostudy_lab.drives.measure.rotation import Rotation
from iostudy_lab.drives.measure.seeks import SeekCurve, SeekPoint
from iostudy_lab.drives.measure.writes import Writes

_MOST_SEGMENTS = 256
_HEAD_SWITCH_SHARE = 0.9
_LEAST_GAIN = 1.1
"""Gain of a queue below which the drive is taken to serve one command at a time."""


@dataclass(frozen=True)
class Origin:
    """Name of the drive and circumstances of the measurement."""

    name: str
    year: int
    circumstances: str


def format_drive_file(measured: DriveMeasurement, origin: Origin) -> str | None:
    """Text of the drive file; None if the parameters of a disk were not measured."""
    rotation, layout = measured.rotation, measured.layout
    seeks, hits = measured.seeks, measured.hits
    if not isinstance(rotation, Rotation) or layout is None or seeks is None or hits is None:
        return None
    lines = [
        "family: disk",
        f"name: {_quote(origin.name)}",
        f"year: {origin.year}",
        "sources:",
        f"  - {_quote(f'iostudy drive measure: {origin.circumstances}')}",
        *(f"  - {_quote(f'not measured: {figure}')}" for figure in measured.missing),
        f"capacity: {measured.blocks * BLOCK_BYTES}B",
        _rotation_line(rotation),
        *_layout_lines(layout),
        *_seek_lines(seeks),
        *_head_lines(layout),
        *_overhead_lines(seeks, hits, measured, rotation.period_ns / layout.zones[0].sectors),
        "interface:",
        f"  rate: {hits.rate / 1e6:.6f}MB/s  # slope of hits by size",
        *_cache_lines(measured.cache, measured.writes),
        *_queue_lines(measured),
    ]
    return "\n".join(lines) + "\n"


def _rotation_line(rotation: Rotation) -> str:
    return (
        f"rotation: {rotation.rpm:.4f}rpm  # +- {rotation.rpm_error:.4f}, 95 %; "
        f"p = {rotation.p_value:.1g} for no rotation"
    )


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _ms(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e6:.6f}ms"


def _layout_lines(layout: DiskLayout) -> list[str]:
    lines = [f"surfaces: {layout.heads}  # distance of the larger skews, in tracks", "zones:"]
    first = 0
    for zone, cylinders in zip(layout.zones, layout.zone_cylinders(), strict=True):
        lines.append(_zone_line(zone, first, cylinders))
        first += cylinders
    return lines


def _zone_line(zone: MeasuredZone, first: int, cylinders: int) -> str:
    """A zone; blocks that a track lacks are spare sectors."""
    spare = zone.sectors - zone.track_blocks
    spares = f", spares: {{sectors: {spare}, tracks: 1}}" if spare else ""
    return (
        f"  - {{first_cylinder: {first}, cylinders: {cylinders}, sectors: {zone.sectors}, "
        f"track_skew: {zone.track_skew:.2f}, "
        f"cylinder_skew: {zone.cylinder_skew:.2f}{spares}}}"
    )


def _seek_lines(seeks: SeekCurve) -> list[str]:
    return ["seek:  # median, and the middle half", *map(_seek_line, seeks.points)]


def _seek_line(point: SeekPoint) -> str:
    low, high = point.low_ns / 1e6, point.high_ns / 1e6
    return f"  {point.cylinders}: {_ms(point.time_ns)}  # {low:.3f} to {high:.3f} ms"


def _head_lines(layout: DiskLayout) -> list[str]:
    skew = min(zone.track_skew_ns for zone in layout.zones)
    note = f"not measured; at most the skew between tracks, {skew / 1e6:.3f} ms"
    return [
        f"head_switch: {_ms(skew * _HEAD_SWITCH_SHARE)}  # {note}",
        "write_settle: 0ms  # not measured",
    ]


def _overhead_lines(
    seeks: SeekCurve, hits: Hits, measured: DriveMeasurement, sector_ns: float
) -> list[str]:
    unit, writes = measured.unit, measured.writes
    transfer = unit * hits.block_ns
    hit, miss = hits.overhead_ns, max(0.0, seeks.overhead_ns - unit * sector_ns - transfer)
    note, write_hit = "  # not measured: as for reads", hit
    if writes is not None and writes.cached:
        note, write_hit = "", max(0.0, writes.response_ns - transfer)
    return [
        "overheads:  # the command before it is not distinguished",
        f"  read_hit: {_overhead(hit)}",
        f"  read_miss: {_overhead(miss)}",
        f"  write_hit: {_overhead(write_hit)}{note}",
        f"  write_miss: {_overhead(miss)}  # not measured: as for reads",
        f"  flush: {_flush(writes)}",
    ]


def _overhead(nanoseconds: float) -> str:
    return f"{{after_read: {_ms(nanoseconds)}, after_write: {_ms(nanoseconds)}}}"


def _flush(writes: Writes | None) -> str:
    if writes is None:
        return "0  # not measured"
    return (
        f"0  # a flush after N random writes takes {writes.flush.fixed_ns / 1e6:.3f} + "
        f"{writes.flush.per_write_ns / 1e6:.3f} N ms, with the writes"
    )


def _cache_lines(cache: ReadCache | None, writes: Writes | None) -> list[str]:
    if cache is None:
        return [
            "cache:  # no hits were seen",
            "  {read_segments: 1, segment: 512B, read_ahead: nowhere, read_ahead_limit: 0,",
            "   write_cache: false, write_size: 0, write_extents: 1}",
        ]
    return [
        "cache:",
        f"  read_segments: {min(cache.segments, _MOST_SEGMENTS)}"
        + ("" if cache.segments_complete else "  # at least"),
        f"  segment: {cache.segment_blocks * BLOCK_BYTES}B"
        + ("" if cache.segment_complete else "  # at least"),
        f"  read_ahead: {cache.read_ahead_end}",
        f"  read_ahead_limit: {cache.read_ahead_blocks * BLOCK_BYTES}B",
        f"  read_ahead_replaces_request: {str(not cache.keeps_request).lower()}",
        "  zero_latency_reads: true  # not measured",
        "  zero_latency_writes: true  # not measured",
        *_write_cache_lines(writes),
    ]


def _write_cache_lines(writes: Writes | None) -> list[str]:
    if writes is None or not writes.cached:
        note = "  # not measured" if writes is None else ""
        return [f"  write_cache: false{note}", "  write_size: 0", "  write_extents: 1"]
    size = (writes.absorbed_blocks or 0) * BLOCK_BYTES
    large, small = writes.absorbed_blocks_complete, writes.absorbed_writes_complete
    return [
        "  write_cache: true",
        f"  write_size: {size}B  # {_bound(complete=large)}",
        f"  write_extents: {writes.absorbed_writes}  # {_bound(complete=small)}",
    ]


def _bound(*, complete: bool) -> str:
    return "at most: the drive writes meanwhile" if complete else "no write waited"


def _queue_lines(measured: DriveMeasurement) -> list[str]:
    queue = measured.queue
    gain = queue.gain if queue is not None else 1.0
    depth = queue.depth if queue is not None and gain > _LEAST_GAIN else 1
    return [
        "queue:",
        f"  depth: {depth}  # random reads gain a factor of {gain:.2f}",
        "  age_limit: 1s  # not measured",
    ]
