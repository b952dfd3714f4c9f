"""HTML renderer: one file without network access; all foreign text is escaped."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape
from pydantic import JsonValue

from iostudy import units
from iostudy.extras import require_extra
from iostudy.report.drawing import GLYPHS, VEGA_LITE, VERDICT_MARKS, Rows, Spec
from iostudy.report.formatting import (
    format_fact,
    format_fact_name,
    format_figure,
    format_time,
    name_configuration,
)
from iostudy.report.section import DIFFERENCE_TITLE, Chart, Document, Section
from iostudy.report.topics import registry
from iostudy.report.topics.trials import build_run_order_chart, describe_trial
from iostudy.report.topics.verdicts import (
    build_axis,
    build_verdict_table,
    choose_verdict_symbol,
    explain_marks,
    format_change,
    format_value,
    format_verdict,
    list_verdicts,
)
from iostudy.report.values import Report, WorkloadReport
from iostudy.visible import visible

_CHANNELS = ("color", "shape", "strokeDash")


@dataclass(frozen=True)
class LegendEntry:
    """A label with its colour, and the glyph of its shape or the dashes of its line."""

    label: str
    colour: str
    glyph: str
    dashes: str


def read_legend(spec: Spec) -> tuple[LegendEntry, ...]:
    """Return the entries of the legends of a Vega-Lite specification, merged by label."""
    channels = [
        (name, layer["encoding"].get(name, {})) for layer in spec["layer"] for name in _CHANNELS
    ]
    scales = {name: channel["scale"] for name, channel in channels if channel.get("legend")}
    if not scales:
        return ()
    labels = scales["color"]["domain"]
    colours, shapes, dashes = (
        scales[name]["range"] if name in scales else [""] * len(labels) for name in _CHANNELS
    )
    return tuple(
        LegendEntry(label, colour, GLYPHS.get(shape, ""), " ".join(map(str, dash)))
        for label, colour, shape, dash in zip(labels, colours, shapes, dashes, strict=True)
    )


def remove_legends(spec: Spec) -> Spec:
    """Return the specification without drawn legends; its data are shared, not copied."""
    layers = []
    for layer in spec["layer"]:
        channels = layer["encoding"]
        with_legend = [name for name in _CHANNELS if "legend" in channels.get(name, {})]
        removed = {name: {**channels[name], "legend": None} for name in with_legend}
        layers.append({**layer, "encoding": {**channels, **removed}})
    return {**spec, "layer": layers}


Column = tuple[JsonValue, ...]
_LEVEL = 6
"""Compression level; 7 to 9 take up to five times as long for 2.5 % less."""


def compress_text(text: str) -> str:
    """Text as base64 of gzip (RFC 1952), the same for the same text.

    Browsers unpack it by themselves (DecompressionStream, compression.spec.whatwg.org).
    """
    return base64.b64encode(gzip.compress(text.encode(), _LEVEL, mtime=0)).decode()


def pack_charts(specs: Mapping[str, Spec]) -> dict[str, Any]:
    """Return specifications whose ``datasets`` name columns, and each column once.

    Charts of one workload show the same trials, so they share most columns.
    """
    # The index of each column. Types of values distinguish true from 1, which are equal.
    places: dict[tuple[frozenset[type], Column], int] = {}

    def pack(rows: Rows) -> dict[str, int]:
        """Return the places of the columns; a row that lacks one has null there."""
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: tuple(row.get(name) for row in rows) for name in names}
        return {
            name: places.setdefault((frozenset(map(type, column)), column), len(places))
            for name, column in columns.items()
        }

    def code(column: Column) -> JsonValue:
        """Return the values, or the distinct ones and their places where most are repeated."""
        distinct = {value: index for index, value in enumerate(dict.fromkeys(column))}
        if 2 * len(distinct) > len(column):
            return list(column)
        return {"of": list(distinct), "at": [distinct[value] for value in column]}

    packed = {
        name: {**spec, "datasets": {table: pack(rows) for table, rows in spec["datasets"].items()}}
        if "datasets" in spec
        else spec
        for name, spec in specs.items()
    }
    return {"columns": [code(column) for _, column in places], "charts": packed}


_LAYOUT = "\n\r\t"
"""Control characters allowed in a text that is shown line by line."""
_WHOLE = re.compile(r"([+-]?[\d.]+ [%x](?: \[[^\]]{1,20}\])?|\b[\w-]{1,24}-[\w-]{1,24}\b)")
"""A change and its interval, or a word with hyphens: each stays on one line."""


@dataclass(frozen=True)
class PlacedChart:
    """A chart at its place in the page."""

    id: str
    chart: Chart

    @functools.cached_property
    def entries(self) -> tuple[LegendEntry, ...]:
        """Its legend."""
        return read_legend(self.chart.spec)


@dataclass(frozen=True)
class PlacedSection:
    """A section with its position and charts; ``about`` names its tables."""

    id: str
    about: str
    section: Section
    charts: tuple[PlacedChart, ...]

    @property
    def common_entries(self) -> tuple[LegendEntry, ...]:
        """The legend that all its charts have in common; empty if they differ."""
        entries = {chart.entries for chart in self.charts}
        return entries.pop() if len(entries) == 1 else ()


@dataclass(frozen=True)
class WorkloadPart:
    """A workload with the charts and sections there are of it."""

    workload: WorkloadReport
    run_order: PlacedChart | None
    sections: tuple[PlacedSection, ...]


def render(report: Report) -> str:
    """The whole page."""
    summary = [*map(_placed, registry.build_summary_sections(report))]
    workloads = [_workload(workload, report, n) for n, workload in enumerate(report.workloads, 1)]
    closing = [*map(_placed, registry.build_closing_sections(report))]
    compared = [result for table in list_verdicts(report.workloads) for result in table.results[1:]]
    charts = [chart for section in summary for chart in section.charts]
    for part in workloads:
        if part.run_order:
            charts.append(part.run_order)
        charts += [chart for section in part.sections for chart in section.charts]
    return _render(
        "report.html",
        charts,
        title=report.question,
        report=report,
        axis=build_axis(compared, report.method.margin),
        summary_sections=summary,
        closing_sections=closing,
        workloads=workloads,
        data=Markup(compress_text(report.model_dump_json())),
    )


def render_page(kicker: str, document: Document) -> str:
    """A page of a document's notes, sections and charts."""
    sections = [*map(_placed, document.sections)]
    charts = [chart for section in sections for chart in section.charts]
    values = {"title": document.title, "kicker": kicker, "document": document, "data": ""}
    return _render("document.html", charts, sections=sections, **values)


def _render(template: str, charts: Iterable[PlacedChart], **values: object) -> str:
    # Packed first: what many trials have in common is made readable once.
    made = pack_charts({chart.id: remove_legends(chart.chart.spec) for chart in charts})
    library, script = read_library(), (_FOLDER / "page.js").read_text("utf-8")
    page = _environment().get_template(template)
    return page.render(
        charts=Markup(compress_text(json.dumps(_readable(made)))),
        style=Markup((_FOLDER / "report.css").read_text("utf-8")),
        script=Markup(script),
        scripts=[_digest(script), _digest(library)],
        **values,
    )


def _placed(section: Section, end: str = "", of: str = "") -> PlacedSection:
    name = f"{section.name}{end}"
    charts = (PlacedChart(f"{name}-{n}", chart) for n, chart in enumerate(section.charts, 1))
    return PlacedSection(name, f"{section.title}{of}", section, tuple(charts))


def _workload(workload: WorkloadReport, report: Report, number: int) -> WorkloadPart:
    run_order = build_run_order_chart(workload, report)
    return WorkloadPart(
        workload=workload,
        run_order=PlacedChart(f"run-order-{number}", run_order) if run_order else None,
        sections=tuple(
            _placed(section, f"-{number}", f" on {workload.label}")
            for section in registry.build_workload_sections(workload, report)
        ),
    )


def _digest(script: str) -> str:
    """Return the script's hash in the Content Security Policy (level 3, hash-source)."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


_ONE_LINE = Markup('<span class="whole">{}</span>')


def _alternating(parts: Sequence[str], element: Markup) -> Markup:
    """Text, with every second part inside an element of its own."""
    return Markup("").join(
        element.format(visible(part)) if index % 2 else escape(visible(part))
        for index, part in enumerate(parts)
    )


def _levels(label: str) -> Markup:
    """A configuration that wraps between its levels, and before values of long levels."""
    chance, levels = Markup("=<wbr>"), re.split("(?<=,) ", visible(label))
    return Markup(" ").join(
        _ONE_LINE.format(chance.join(escape(level).split("="))) for level in levels
    )


_TONES = {GLYPHS[shape]: f" verdict {verdict}" for verdict, (_, shape) in VERDICT_MARKS.items()}
"""Classes of the cell of a verdict, which begins with its symbol."""
_FILTERS = {
    "list_verdicts": list_verdicts,
    "change": format_change,
    "code": lambda text: _alternating(text.split("`"), Markup("<code>{}</code>")),
    "fact_name": format_fact_name,
    "fact_text": format_fact,
    "levels": _levels,
    "marks": explain_marks,
    "moment": format_time,
    "percent": units.format_percent,
    "named": name_configuration,
    "remark": describe_trial,
    "significant": format_figure,
    "tone": lambda text: _TONES.get(text[:1], ""),
    "unbroken": lambda text: _alternating(_WHOLE.split(text), _ONE_LINE),
    "value": format_value,
    "verdict": format_verdict,
    "verdict_symbol": choose_verdict_symbol,
    "verdict_table": build_verdict_table,
}


def _readable(value: Any) -> Any:
    """Return a specification or text with readable texts; markup was made from such text."""
    if isinstance(value, dict):
        return {name: _readable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_readable(item) for item in value]
    is_text = isinstance(value, str) and not isinstance(value, Markup)
    return visible(value, keep=_LAYOUT) if is_text else value


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("iostudy.report.render"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_readable,
    )
    environment.filters |= _FILTERS
    environment.globals |= {"most_printed": 200, "difference_title": DIFFERENCE_TITLE}
    environment.globals["library"] = Markup(compress_text(read_library()))
    return environment


_FOLDER = Path(__file__).parent / "templates"
_SOURCE = _FOLDER / "charts.js"


@functools.cache
def read_library() -> str:
    """Return the library that the build wrote, else bundle it, which takes over a second."""
    path = library_path()
    return path.read_text("utf-8") if path.is_file() else bundle_library()


def library_path() -> Path:
    """Return the path of the built library: its name changes with its sources and Vega-Lite."""
    sources = f"{VEGA_LITE}\n{_SOURCE.read_text('utf-8')}"
    return _FOLDER / f"charts-{hashlib.sha256(sources.encode()).hexdigest()[:16]}.bundle.js"


def bundle_library() -> str:
    """Bundle the library with the lines that draw the charts of a page."""
    require_extra("figures", "bundle the charts of HTML reports", "a built wheel contains them")
    import vl_convert  # not at the top: a built library needs no bundler

    bundled: str = vl_convert.javascript_bundle(_SOURCE.read_text("utf-8"), vl_version=VEGA_LITE)
    return bundled
