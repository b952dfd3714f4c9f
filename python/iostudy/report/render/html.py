"""HTML renderer: one file without network access; all foreign text is escaped."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jinja2
from markupsafe import Markup, escape

from iostudy import units
from iostudy.report.formatting import (
    describe_trial,
    format_against,
    format_fact,
    format_fact_name,
    format_figure,
    format_time,
)
from iostudy.report.render import json_
from iostudy.report.render.chart_library import read_library
from iostudy.report.render.legend import LegendEntry, read_legend, remove_legends
from iostudy.report.render.page_data import compress_text, pack_charts
from iostudy.report.section import Chart, Document, Section
from iostudy.report.topics import registry
from iostudy.report.topics.bottlenecks.chart import build_timeline_charts
from iostudy.report.topics.bottlenecks.section import BUSY, LIMITS
from iostudy.report.topics.bottlenecks.telemetry_chart import build_telemetry_charts
from iostudy.report.topics.measurements.chart import build_latency_charts
from iostudy.report.topics.measurements.heat_map import OperationMaps, build_heat_maps
from iostudy.report.topics.measurements.section import LATENCY
from iostudy.report.topics.reference.text import (
    format_own_change,
    format_own_value,
    format_published_change,
    format_published_name,
    format_published_value,
    introduce_reference,
)
from iostudy.report.topics.verdicts.chart import (
    build_run_order_chart,
)
from iostudy.report.topics.verdicts.configurations import LEVEL_HEADS, list_levels
from iostudy.report.topics.verdicts.figure_verdicts import list_verdicts
from iostudy.report.topics.verdicts.forest_plot import ForestPlot, build_forest_plot
from iostudy.report.topics.verdicts.names import name_configuration
from iostudy.report.topics.verdicts.text import (
    choose_verdict_symbol,
    explain_marks,
    format_blocks,
    format_change,
    format_first_blocks_legend,
    format_slow_runs,
    format_value,
    format_verdict,
)
from iostudy.report.values import Report, WorkloadReport
from iostudy.visible import visible

_LAYOUT = "\n\r\t"
"""Control characters allowed in a text that is shown line by line."""
_WHOLE = re.compile(r"([+-]?[\d.]+ [%x](?: \[[^\]]{1,20}\])?|\b[\w-]{1,24}-[\w-]{1,24}\b)")


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
    """A workload with the charts and sections there are of it.

    ``heats`` are the heat maps that stand for a section's tables, by its name.
    """

    workload: WorkloadReport
    run_order: PlacedChart | None
    sections: tuple[PlacedSection, ...]
    heats: Mapping[str, tuple[OperationMaps, ...]]

    @property
    def charts(self) -> tuple[PlacedChart, ...]:
        """Every chart of the workload."""
        alone = (self.run_order,) if self.run_order else ()
        return (*alone, *(c for own in self.sections for c in own.charts))


def render(report: Report) -> str:
    """The whole page."""
    summary = [_placed(own, own.name, own.title) for own in registry.build_summary_sections(report)]
    workloads = [_workload(workload, report, n) for n, workload in enumerate(report.workloads, 1)]
    charts = [
        *(c for own in summary for c in own.charts),
        *(c for w in workloads for c in w.charts),
    ]
    library = read_library()
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            forest=build_forest_plot(report),
            summary_sections=summary,
            workloads=workloads,
            charts=_packed_charts(charts),
            data=Markup(compress_text(json_.render_compact(report))),
            style=Markup(_source("report.css")),
            script=Markup(_source("page.js")),
            library=Markup(compress_text(library)),
            scripts=[_digest(script) for script in (_source("page.js"), library)],
        )
    )


def render_page(kicker: str, document: Document) -> str:
    """A page of a document's notes, sections and charts."""
    sections = [_placed(own, own.name, own.title) for own in document.sections]
    library = read_library()
    return (
        _environment()
        .get_template("document.html")
        .render(
            kicker=kicker,
            document=document,
            sections=sections,
            charts=_packed_charts(chart for own in sections for chart in own.charts),
            style=Markup(_source("report.css")),
            script=Markup(_source("page.js")),
            library=Markup(compress_text(library)),
            scripts=[_digest(script) for script in (_source("page.js"), library)],
        )
    )


def _placed(section: Section, name: str, about: str) -> PlacedSection:
    return PlacedSection(name, about, section, _charts(name, section.charts))


def _charts(name: str, drawn: Iterable[Chart]) -> tuple[PlacedChart, ...]:
    return tuple(PlacedChart(f"{name}-{n}", own) for n, own in enumerate(drawn, 1))


def _workload(workload: WorkloadReport, report: Report, number: int) -> WorkloadPart:
    return WorkloadPart(
        workload=workload,
        run_order=_chart(f"run-order-{number}", build_run_order_chart(workload, report)),
        sections=tuple(
            _placed(own, f"{own.name}-{number}", f"{own.title} on {workload.label}")
            for own in _sections(workload, report)
        ),
        heats={f"parts-{n}": build_heat_maps(part) for n, part in enumerate(workload.parts, 1)},
    )


def _sections(workload: WorkloadReport, report: Report) -> Iterator[Section]:
    """Return the sections of the workload, with the charts that only a page has."""
    for section in registry.build_workload_sections(workload, report):
        yield replace(section, charts=_drawn(section.name, workload, report))


def _drawn(name: str, workload: WorkloadReport, report: Report) -> tuple[Chart, ...]:
    if name == LATENCY:
        return tuple(build_latency_charts(workload, report))
    if name == LIMITS:
        return build_timeline_charts(workload, report)
    return build_telemetry_charts(workload, report) if name == BUSY else ()


def _chart(name: str, drawn: Chart | None) -> PlacedChart | None:
    return None if drawn is None else PlacedChart(name, drawn)


def _packed_charts(charts: Iterable[PlacedChart]) -> Markup:
    # Packed first: what many trials have in common is made readable once.
    made = pack_charts({chart.id: remove_legends(chart.chart.spec) for chart in charts})
    return Markup(compress_text(json.dumps(_readable(made))))


def _digest(script: str) -> str:
    """Return the script's hash in the Content Security Policy (level 3, hash-source)."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _code(text: str) -> Markup:
    """Mark text between backticks as code."""
    return _alternating(text.split("`"), Markup("<code>{}</code>"))


def _unbroken(text: str) -> Markup:
    """Text in which a change and its interval, and a word with hyphens, stay on one line."""
    return _alternating(_WHOLE.split(text), Markup('<span class="whole">{}</span>'))


def _alternating(parts: Sequence[str], element: Markup) -> Markup:
    """Text, with every second part inside an element of its own."""
    return Markup("").join(
        element.format(visible(part)) if index % 2 else escape(visible(part))
        for index, part in enumerate(parts)
    )


def _levels(label: str) -> Markup:
    """A configuration that wraps between its levels, and before values of long levels."""
    element = Markup('<span class="whole">{}</span>')
    chance = Markup("=<wbr>")
    levels = (chance.join(escape(level).split("=")) for level in visible(label).split(", "))
    return Markup(", ").join(element.format(level) for level in levels)


def _mark_legend(plot: ForestPlot) -> str:
    return explain_marks(row.result for group in plot.groups for row in group.rows)


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


_FILTERS = {
    "against": format_against,
    "blocks": format_blocks,
    "blocks_legend": format_first_blocks_legend,
    "list_verdicts": list_verdicts,
    "change": format_change,
    "code": _code,
    "fact_name": format_fact_name,
    "fact_text": format_fact,
    "levels": _levels,
    "mark_legend": _mark_legend,
    "moment": format_time,
    "own_change": format_own_change,
    "own_value": format_own_value,
    "percent": units.format_percent,
    "published_change": format_published_change,
    "published_name": format_published_name,
    "published_value": format_published_value,
    "named": name_configuration,
    "reference_intro": introduce_reference,
    "remark": describe_trial,
    "slow_runs": format_slow_runs,
    "significant": format_figure,
    "list_levels": list_levels,
    "unbroken": _unbroken,
    "value": format_value,
    "verdict": format_verdict,
    "verdict_symbol": choose_verdict_symbol,
}
_GLOBALS = {
    "level_heads": LEVEL_HEADS,
    "most_printed": 200,
}


def _readable(value: Any) -> Any:
    """Return a specification with readable texts."""
    if isinstance(value, dict):
        return {name: _readable(own) for name, own in value.items()}
    if isinstance(value, list):
        return [_readable(own) for own in value]
    return visible(value, keep=_LAYOUT) if isinstance(value, str) else value


def _shown(value: object) -> object:
    """Return readable text, or markup made from such text."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value, keep=_LAYOUT)
    return value


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("iostudy.report.render"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
    )
    environment.filters |= _FILTERS
    environment.globals |= _GLOBALS
    return environment
