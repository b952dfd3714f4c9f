"""Document of ``iostudy drive measure``: parameters, and charts of seeks, rates and responses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from iostudy.prober import BLOCK_BYTES
from iostudy.report.drawing import BLUE, field, layer, make_chart
from iostudy.report.section import Chart, Document, Section, TextTable, make_table
from iostudy.units import format_rounded_size, format_significant
from iostudy_lab.drives.measure.result import DriveMeasurement
from iostudy_lab.drives.measure.rotation import Rotation

_HEIGHT = 260
_BINS = 60
_GB = 1e9


def build_drive_document(measured: DriveMeasurement, name: str) -> Document:
    """Document of a measurement."""
    return Document(
        title=f"Measured drive: {name}",
        notes=tuple(f"Not measured: {figure}." for figure in measured.missing),
        sections=tuple(_sections(measured)),
    )


def _sections(measured: DriveMeasurement) -> Iterator[Section]:
    table = TextTable("", ("parameter", "value"), list_parameters(measured), names=1, words=1)
    yield Section("parameters", "Parameters", tables=(table,))
    rows: list[tuple[float, float, float, float]]
    if measured.seeks is not None:
        rows = [
            (p.cylinders, p.time_ns / 1e6, p.low_ns / 1e6, p.high_ns / 1e6)
            for p in measured.seeks.points
        ]
        heads, bars = ("distance, cylinders", "seek time, ms"), "middle half of the pairs"
        yield _curve("seeks", "Seek time", rows, heads, bars, type="log")
    if measured.rates:
        rows = [
            (p.block * BLOCK_BYTES / _GB, p.bytes_per_second / 1e6, p.low / 1e6, p.high / 1e6)
            for p in measured.rates
        ]
        heads = ("position, GB", "rate, MB/s")
        yield _curve("rates", "Sequential rate", rows, heads, "range of the repeats")
    if measured.layout is not None:
        zones = make_table(
            {
                "start, GB": f"{zone.first_block * BLOCK_BYTES / _GB:.2f}",
                "sectors": zone.sectors,
                "track skew, ms": f"{zone.track_skew_ns / 1e6:.3f}",
                "cylinder skew, ms": f"{zone.cylinder_skew_ns / 1e6:.3f}",
            }
            for zone in measured.layout.zones
        )
        yield Section("zones", "Zones", folded=(zones,))
    if measured.queue is not None:
        rows = [(p.depth, p.reads_per_second, p.low, p.high) for p in measured.queue.points]
        heads, title = ("queue depth", "reads/s"), "Random reads by queue depth"
        yield _curve("queue", title, rows, heads, "range of the repeats", type="log", base=2)
    if measured.responses_ns:
        yield _responses(measured)


def list_parameters(measured: DriveMeasurement) -> list[tuple[str, str]]:
    """Measured parameters in words, with intervals."""
    facts = [("capacity", format_rounded_size(measured.blocks * BLOCK_BYTES))]
    for part in (_rotation_facts, _layout_facts, _cache_facts, _write_facts):
        facts += part(measured)
    if measured.queue is not None:
        gain = f"{measured.queue.gain:.2f} x at depth {measured.queue.depth}"
        facts.append(("queue gain", f"{gain}, of random reads"))
    return facts


def _rotation_facts(measured: DriveMeasurement) -> Iterator[tuple[str, str]]:
    rotation = measured.rotation
    if isinstance(rotation, Rotation):
        interval = f"{rotation.rpm:.2f} rpm +- {rotation.rpm_error:.2f}, 95 %"
        yield "rotation", f"{interval} (p = {rotation.p_value:.1g} for no rotation)"
    elif rotation is not None:
        yield "rotation", f"none (p = {rotation.p_value:.2g} for the strongest of all periods)"


def _layout_facts(measured: DriveMeasurement) -> Iterator[tuple[str, str]]:
    layout, seeks = measured.layout, measured.seeks
    if layout is not None:
        surfaces = "unknown" if layout.surfaces is None else str(layout.surfaces)
        yield "surfaces", surfaces
        yield "zones", f"{len(layout.zones)}, {layout.cylinders} cylinders"
    if seeks is not None:
        first, last = seeks.points[0], seeks.points[-1]
        yield "seek", f"{_ms(first.time_ns)} to the next cylinder, {_ms(last.time_ns)} full stroke"
        yield "processing", f"{_ms(seeks.overhead_ns)}, a small read without seek and rotation"
    if measured.rates:
        outer, inner = (_rate(measured.rates[at].bytes_per_second) for at in (0, -1))
        yield ("sequential rate", f"{outer} at the start, {inner} at the end")


def _cache_facts(measured: DriveMeasurement) -> Iterator[tuple[str, str]]:
    cache = measured.cache
    if cache is None:
        return
    least = "" if cache.segments_complete and cache.segment_complete else "at least "
    segment = format_rounded_size(cache.segment_blocks * BLOCK_BYTES)
    ahead = format_rounded_size(cache.read_ahead_blocks * BLOCK_BYTES)
    yield "read cache", f"{least}{cache.segments} segments of {segment}"
    yield "read-ahead", f"{ahead}, end: {cache.read_ahead_end}"


def _write_facts(measured: DriveMeasurement) -> Iterator[tuple[str, str]]:
    writes = measured.writes
    if writes is None:
        return
    yield "write cache", "on" if writes.cached else "off"
    if writes.absorbed_writes is not None:
        size = format_rounded_size((writes.absorbed_blocks or 0) * BLOCK_BYTES)
        yield "absorbed writes", f"{writes.absorbed_writes} small ones, {size} of larger ones"
    flush = writes.flush
    yield "flush", f"{_ms(flush.fixed_ns)} and {_ms(flush.per_write_ns)} for each write before it"
    moves = "shingled, or another map" if writes.moves else "no"
    yield "blocks move when written", f"{moves} ({writes.moved} of {writes.compared})"


def _ms(nanoseconds: float) -> str:
    return f"{format_significant(nanoseconds / 1e6)} ms"


def _rate(bytes_per_second: float) -> str:
    return f"{format_significant(bytes_per_second / 1e6)} MB/s"


def _responses(measured: DriveMeasurement) -> Section:
    milliseconds = np.array(measured.responses_ns) / 1e6
    counts, edges = np.histogram(
        milliseconds, bins=_BINS, range=(0, np.quantile(milliseconds, 0.999))
    )
    rows = [
        {"low": float(low), "high": float(high), "count": int(count)}
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
    ]
    x = field("low:Q", title="response time, ms", bin="binned")
    bars = {"x": x, "x2": "high", "y": field("count:Q", title="reads")}
    chart = Chart(
        make_chart([layer(rows, "bar", bars, color=BLUE)], height=_HEIGHT),
        "Histogram of response times of random reads.",
        f"{len(milliseconds)} random reads of {measured.unit * BLOCK_BYTES} bytes, one in flight; "
        "the slowest 0.1 % are beyond the chart.",
    )
    points = (1, 10, 50, 90, 99, 99.9)
    rows_of = [(f"p{p:g}", f"{np.percentile(milliseconds, p):.3f}") for p in points]
    table = TextTable("", ("percentile", "ms"), rows_of, names=1)
    return Section("responses", "Random reads", draw=lambda: (chart,), folded=(table,))


def _curve(
    name: str,
    title: str,
    points: Sequence[tuple[float, float, float, float]],
    heads: tuple[str, str],
    bars: str,
    **scale: Any,
) -> Section:
    """A line with bars, and its table; ``points`` are x, y, and the ends of the bar at x."""

    def draw() -> Iterator[Chart]:
        rows = [dict(zip(("x", "y", "low", "high"), point, strict=True)) for point in points]
        x = field("x:Q", title=heads[0], **({"scale": scale} if scale else {}))
        middle = {"x": x, "y": field("y:Q", title=heads[1], scale={"zero": True})}
        bar = {"x": x, "y": "low:Q", "y2": "high"}
        layers = [
            layer(rows, "line", middle, color=BLUE, strokeWidth=1.8),
            layer(rows, "rule", bar, color=BLUE, strokeWidth=2),
            layer(rows, "point", middle, color=BLUE, filled=True, size=50, opacity=1),
        ]
        yield Chart(
            make_chart(layers, height=_HEIGHT),
            f"Line chart of the {title.lower()}; the table below has its values.",
            f"Points: medians. Bars: {bars}.",
        )

    cells = [tuple(f"{value:.6g}" for value in point) for point in points]
    table = TextTable("", (*heads, "low", "high"), cells, names=1)
    return Section(name, title, folded=(table,), draw=draw)
