"""The report as one HTML file: no network, no other file, no string of others that comes alive."""

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
import vl_convert
from markupsafe import Markup, escape

from iostudy import units
from iostudy.report import (
    answer,
    configurations,
    drawing,
    figures,
    heat,
    json_,
    latency_chart,
    limits_section,
    packed,
    sections,
    tables,
    timeline_chart,
    wording,
)
from iostudy.report.section import Drawn, Section
from iostudy.report.values.report import Report
from iostudy.report.values.results import WorkloadTold
from iostudy.visible import visible

_LAYOUT = "\n\r\t"
"""Of a text that is shown line by line."""
_WHOLE = re.compile(r"([+-]?[\d.]+ %(?: \[[^\]]{1,20}\])?|\b[\w-]{1,24}-[\w-]{1,24}\b)")


@dataclass(frozen=True)
class Chart:
    """A chart at its place in the page."""

    id: str
    drawn: Drawn


@dataclass(frozen=True)
class Placed:
    """A section at its place in the page, with the charts there; ``about`` tells its tables."""

    id: str
    about: str
    section: Section
    charts: tuple[Chart, ...]


@dataclass(frozen=True)
class WorkloadPart:
    """A workload with the charts and sections there are of it.

    ``heats`` are the heat maps that stand for a section's tables, by its name.
    """

    workload: WorkloadTold
    intervals: Chart | None
    run_order: Chart | None
    sections: tuple[Placed, ...]
    heats: Mapping[str, tuple[heat.Operation, ...]]

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Every chart of the workload."""
        alone = (chart for chart in (self.intervals, self.run_order) if chart is not None)
        return (*alone, *(c for own in self.sections for c in own.charts))


def render(report: Report) -> str:
    """The whole page."""
    beside = [_placed(own, own.name, own.title) for own in sections.beside(report)]
    workloads = [_workload(told, report, n) for n, told in enumerate(report.workloads, 1)]
    charts = [*(c for own in beside for c in own.charts), *(c for w in workloads for c in w.charts)]
    library = _library()
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            beside=beside,
            workloads=workloads,
            charts=_packed_charts(charts),
            data=Markup(packed.gzipped(json_.compact(report))),
            style=Markup(_source("report.css")),
            script=Markup(_source("page.js")),
            library=Markup(packed.gzipped(library)),
            scripts=[_digest(script) for script in (_source("page.js"), library)],
        )
    )


def _placed(section: Section, name: str, about: str) -> Placed:
    return Placed(name, about, section, _charts(name, section.drawn))


def _charts(name: str, drawn: Iterable[Drawn]) -> tuple[Chart, ...]:
    return tuple(Chart(f"{name}-{n}", own) for n, own in enumerate(drawn, 1))


def _workload(workload: WorkloadTold, report: Report, number: int) -> WorkloadPart:
    return WorkloadPart(
        workload=workload,
        intervals=_chart(f"intervals-{number}", figures.intervals(workload, report)),
        run_order=_chart(f"run-order-{number}", figures.run_order(workload, report)),
        sections=tuple(
            _placed(own, f"{own.name}-{number}", f"{own.title} on {workload.label}")
            for own in _sections(workload, report)
        ),
        heats={f"parts-{n}": heat.maps(told) for n, told in enumerate(workload.parts, 1)},
    )


def _sections(workload: WorkloadTold, report: Report) -> Iterator[Section]:
    """Those of the workload, with the charts that only a page has."""
    for section in sections.of_workload(workload, report):
        yield replace(section, drawn=_drawn(section.name, workload, report))


def _drawn(name: str, workload: WorkloadTold, report: Report) -> tuple[Drawn, ...]:
    if name == tables.LATENCY:
        return tuple(latency_chart.charts(workload, report))
    if name == limits_section.LIMITS:
        return timeline_chart.charts(workload, report)
    return figures.telemetry(workload, report) if name == limits_section.BUSY else ()


def _chart(name: str, drawn: Drawn | None) -> Chart | None:
    return None if drawn is None else Chart(name, drawn)


def _packed_charts(charts: Iterable[Chart]) -> Markup:
    # Packed first: what many trials have in common is made readable once.
    made = packed.charts({chart.id: chart.drawn.spec for chart in charts})
    return Markup(packed.gzipped(json.dumps(_readable(made))))


def _digest(script: str) -> str:
    """What the page's policy knows a script by (Content Security Policy 3, hash-source)."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _code(text: str) -> Markup:
    """Text with what stands between backticks as code."""
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
    """A configuration that may wrap between its levels, and nowhere else."""
    element = Markup('<span class="whole">{}</span>')
    levels = (element.format(level) for level in visible(label).split(", "))
    return Markup(", ").join(levels)


@functools.cache
def _library() -> str:
    """Vega, Vega-Lite and vega-embed with the few lines that draw the page's charts, as one."""
    return vl_convert.javascript_bundle(_source("charts.js"), vl_version=drawing.SCHEMA_VERSION)


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


_FILTERS = {
    "against": wording.against,
    "blocks": wording.blocks,
    "blocks_legend": wording.first_blocks_legend,
    "code": _code,
    "fact_name": wording.fact_name,
    "fact_text": wording.fact_text,
    "levels": _levels,
    "moment": wording.moment,
    "own_change": wording.own_change,
    "own_value": wording.own_value,
    "percent": units.format_percent,
    "published_change": wording.published_change,
    "published_name": wording.published_name,
    "published_value": wording.published_value,
    "quoted": answer.quoted,
    "reference_alone": wording.reference_alone,
    "reference_intro": wording.reference_intro,
    "remark": wording.remark,
    "signed_percent": wording.signed_percent,
    "signed_span": wording.signed_span,
    "significant": wording.significant,
    "told_levels": configurations.levels,
    "unbroken": _unbroken,
    "verdict": wording.verdict,
    "verdict_symbol": wording.verdict_symbol,
}
_GLOBALS = {
    "level_heads": configurations.HEADS,
    "most_printed": 200,
}


def _readable(value: Any) -> Any:
    """A specification whose texts are as they are read."""
    if isinstance(value, dict):
        return {name: _readable(own) for name, own in value.items()}
    if isinstance(value, list):
        return [_readable(own) for own in value]
    return visible(value, keep=_LAYOUT) if isinstance(value, str) else value


def _shown(value: object) -> object:
    """What is put into the page: text as it is read, and markup that was made of such text."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value, keep=_LAYOUT)
    return value


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("iostudy.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
    )
    environment.filters |= _FILTERS
    environment.globals |= _GLOBALS
    return environment
