"""Files of a report: its documents, and charts as SVG and PNG."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iostudy.durable import write_whole
from iostudy.report.drawing import CONTAINER_WIDTH, INK, VEGA_LITE, Spec
from iostudy.report.render import html, json_, markdown
from iostudy.report.section import Chart
from iostudy.report.topics import registry
from iostudy.report.topics.trials import build_run_order_chart
from iostudy.report.topics.verdicts import build_interval_chart
from iostudy.report.values import Report

WIDTH_PIXELS = 640
_INK = "#1b1f24"
_PAPER = "#ffffff"
_PNG_SCALE = 2.0
"""Dots for each pixel: sharp in print at half the width of a page."""


def write_charts(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write all charts of the report into a folder, created if needed; OSError.

    A name contains the chart and its workload: ``run-order-dfsio-write.svg``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return tuple(
        path for name, drawn in name_charts(report) for path in _write(folder / name, drawn)
    )


def name_charts(report: Report) -> Iterator[tuple[str, Chart]]:
    """Every chart with a name of its own, of lower-case letters, digits and hyphens."""
    summary = registry.build_summary_sections(report)
    every = [(section.name, chart) for section in summary for chart in section.charts]
    for workload in report.workloads:
        charts = [
            ("intervals", build_interval_chart(workload, report)),
            ("run order", build_run_order_chart(workload, report)),
        ]
        for section in registry.build_workload_sections(workload, report):
            charts += [(chart.name or section.name, chart) for chart in section.charts]
        every += [(f"{name} {workload.label}", chart) for name, chart in charts if chart]
    taken: dict[str, int] = {}
    for wanted, chart in every:
        title = chart.spec.get("title", "")
        words = " ".join(title) if isinstance(title, list) else title
        name = re.sub(r"[^a-z0-9]+", "-", f"{wanted} {words}".lower()).strip("-")
        taken[name] = taken.get(name, 0) + 1
        yield (name if taken[name] == 1 else f"{name}-{taken[name]}"), chart


def _write(path: Path, drawn: Chart) -> Iterator[Path]:
    import vl_convert  # not at the top: reports need no extra

    spec, version = make_print_spec(drawn.spec), VEGA_LITE
    # A chart has all its data in it: no address is allowed, and none is needed.
    svg = vl_convert.vegalite_to_svg(spec, version, allowed_base_urls=[])
    png = vl_convert.vegalite_to_png(spec, version, scale=_PNG_SCALE, allowed_base_urls=[])
    for ending, content in ((".svg", svg.encode()), (".png", png)):
        file = path.with_name(path.name + ending)
        write_whole(file, content)
        yield file


def make_print_spec(spec: Spec) -> Spec:
    """The chart at a width of its own, dark on white; in the page both follow what is around it."""
    look = {name: _fixed(value) for name, value in spec.items() if name != "datasets"}
    return {**spec, **look, "width": WIDTH_PIXELS, "background": _PAPER}


def _fixed(value: Any) -> Any:
    match value:
        case dict():
            return {name: _fixed(item) for name, item in value.items()}
        case list():
            return [_fixed(item) for item in value]
        case str():
            return _INK if value == INK else value.replace(CONTAINER_WIDTH, str(WIDTH_PIXELS))
        case _:
            return value


RENDERERS = {"report.html": html.render, "report.md": markdown.render, "report.json": json_.render}


def write_report_files(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write report.html, report.md and report.json; their paths. OSError as it comes."""
    # One after the other: of thousands of trials each is of tens of megabytes.
    for name, render in RENDERERS.items():
        write_whole(folder / name, render(report).encode())
    return tuple(folder / name for name in RENDERERS)
