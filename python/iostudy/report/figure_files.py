"""Every chart of a report as files of its own, for papers and slides: SVG and PNG."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import vl_convert

from iostudy.durable import write_whole
from iostudy.report import drawing, figures, latency_chart, sections, tables, timeline_chart
from iostudy.report.drawing import Spec
from iostudy.report.section import Drawn
from iostudy.report.values.report import Report
from iostudy.report.values.results import WorkloadTold

WIDTH_PIXELS = 640
_INK = "#1b1f24"
_PAPER = "#ffffff"
_PNG_SCALE = 2.0
"""Dots for each pixel: sharp in print at half the width of a page."""


def write(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write all charts of the report into a folder, made if need be; OSError as it comes.

    A name tells what is drawn and of which workload: ``run-order-dfsio-write.svg``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return tuple(path for name, drawn in named(report) for path in _write(folder / name, drawn))


def named(report: Report) -> Iterator[tuple[str, Drawn]]:
    """Every chart with a name of its own, of lower-case letters, digits and hyphens."""
    taken: dict[str, int] = {}
    for wanted, drawn in _every(report):
        name = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")
        taken[name] = taken.get(name, 0) + 1
        yield (name if taken[name] == 1 else f"{name}-{taken[name]}"), drawn


def _every(report: Report) -> Iterator[tuple[str, Drawn]]:
    for section in sections.beside(report):
        for drawn in section.drawn:
            yield f"{section.name} {_title(drawn)}", drawn
    for workload in report.workloads:
        for what, drawn in _of(workload, report):
            yield f"{what} {workload.label} {_title(drawn)}", drawn


def _of(workload: WorkloadTold, report: Report) -> Iterator[tuple[str, Drawn]]:
    alone = {
        "intervals": figures.intervals(workload, report),
        "run order": figures.run_order(workload, report),
    }
    yield from ((what, drawn) for what, drawn in alone.items() if drawn is not None)
    for section in tables.sections(workload):
        yield from ((section.name, drawn) for drawn in section.drawn)
    yield from (("latency", drawn) for drawn in latency_chart.charts(workload, report))
    yield from (("timeline", drawn) for drawn in timeline_chart.charts(workload, report))
    yield from (("telemetry", drawn) for drawn in figures.telemetry(workload, report))


def _title(drawn: Drawn) -> str:
    return str(drawn.spec.get("title", ""))


def _write(path: Path, drawn: Drawn) -> Iterator[Path]:
    spec, version = in_print(drawn.spec), drawing.SCHEMA_VERSION
    # A chart has all its data in it: no address is allowed, and none is asked.
    svg = vl_convert.vegalite_to_svg(spec, version, allowed_base_urls=[])
    png = vl_convert.vegalite_to_png(spec, version, scale=_PNG_SCALE, allowed_base_urls=[])
    for ending, content in ((".svg", svg.encode()), (".png", png)):
        file = path.with_name(path.name + ending)
        write_whole(file, content)
        yield file


def in_print(spec: Spec) -> Spec:
    """The chart at a width of its own, dark on white; in the page both follow what is around it."""
    data = {name: spec[name] for name in ("datasets",) if name in spec}
    look = {name: _fixed(value) for name, value in spec.items() if name not in data}
    return {**look, **data, "width": WIDTH_PIXELS, "background": _PAPER}


def _fixed(value: Any) -> Any:
    match value:
        case dict():
            return {name: _fixed(own) for name, own in value.items()}
        case list():
            return [_fixed(own) for own in value]
        case str():
            return _INK if value == drawing.INK else value.replace(drawing.ROOM, str(WIDTH_PIXELS))
        case _:
            return value
