"""The report as one HTML file: no network, no other file, no string of others that comes alive."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

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
    rank_tables,
    tables,
    wording,
)
from iostudy.report.drawing import Spec
from iostudy.report.telemetry import meter_groups
from iostudy.report.values import Report, WorkloadTold

_WHOLE = re.compile(r"([+-]?[\d.]+ %(?: \[[^\]]{1,20}\])?|\b[\w-]{1,24}-[\w-]{1,24}\b)")


@dataclass(frozen=True)
class Chart:
    """A chart's place in the page, and what it says to those who cannot see it."""

    id: str
    spec: Spec
    alternative: str


@dataclass(frozen=True)
class WorkloadCharts:
    """A workload with the charts there are of it."""

    workload: WorkloadTold
    intervals: Chart | None
    run_order: Chart | None
    latency: tuple[Chart, ...]
    telemetry: tuple[Chart, ...]

    @property
    def all(self) -> tuple[Chart, ...]:
        """Every chart of the workload."""
        charts = (self.intervals, self.run_order, *self.latency, *self.telemetry)
        return tuple(chart for chart in charts if chart is not None)


def render(report: Report) -> str:
    """The whole page."""
    workloads = [_charts(workload, report, n) for n, workload in enumerate(report.workloads, 1)]
    script = _script()
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            workloads=workloads,
            charts={chart.id: chart.spec for told in workloads for chart in told.all},
            data=_embedded(json_.render(report)),
            style=Markup(_source("report.css")),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


def _charts(workload: WorkloadTold, report: Report, number: int) -> WorkloadCharts:
    return WorkloadCharts(
        workload=workload,
        intervals=_chart(
            f"intervals-{number}", figures.intervals(workload, report), _results_told(workload)
        ),
        run_order=_chart(
            f"run-order-{number}",
            figures.run_order(workload, report),
            f"{workload.figure.name} of every trial in run order; the table below lists them",
        ),
        latency=tuple(
            Chart(f"latency-{number}-{n}", spec, f"latency of {operation}; the table has figures")
            for n, (operation, spec) in enumerate(latency_chart.charts(workload, report), 1)
        ),
        telemetry=tuple(
            Chart(f"telemetry-{number}-{n}", spec, f"{spec['title']} of every configuration")
            for n, spec in enumerate(figures.telemetry(workload, report), 1)
        ),
    )


def _chart(name: str, spec: Spec | None, alternative: str) -> Chart | None:
    return None if spec is None else Chart(name, spec, alternative)


def _results_told(workload: WorkloadTold) -> str:
    told = [
        f"{result.configuration} {wording.change(result)}, {wording.verdict(result)}"
        for result in workload.results
        if not result.baseline
    ]
    return "; ".join(told)


def _embedded(json_text: str) -> Markup:
    """JSON inside a script element: without <, > and & nothing in it can end the element."""
    for character in "<>&":
        json_text = json_text.replace(character, f"\\u{ord(character):04x}")
    return Markup(json_text)


def _code(text: str) -> Markup:
    """Text with what stands between backticks as code."""
    return _alternating(text.split("`"), Markup("<code>{}</code>"))


def _unbroken(text: str) -> Markup:
    """Text in which a change and its interval, and a word with hyphens, stay on one line."""
    return _alternating(_WHOLE.split(text), Markup('<span class="whole">{}</span>'))


def _alternating(parts: Sequence[str], element: Markup) -> Markup:
    """Text, with every second part inside an element of its own."""
    return Markup("").join(
        element.format(part) if index % 2 else escape(part) for index, part in enumerate(parts)
    )


def _levels(label: str) -> Markup:
    """A configuration that may wrap between its levels, and nowhere else."""
    levels = (Markup('<span class="whole">{}</span>').format(level) for level in label.split(", "))
    return Markup(", ").join(levels)


@functools.cache
def _script() -> str:
    """Vega, Vega-Lite and vega-embed with the page's own few lines, as one script."""
    return vl_convert.javascript_bundle(_source("charts.js"), vl_version=drawing.SCHEMA_VERSION)


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


_FILTERS = {
    "against": wording.against,
    "blocks": wording.blocks,
    "blocks_legend": wording.blocks_legend,
    "code": _code,
    "fact_name": wording.fact_name,
    "fact_text": wording.fact_text,
    "heat_maps": heat.maps,
    "latency_table": tables.latencies,
    "levels": _levels,
    "meter_groups": meter_groups,
    "moment": wording.moment,
    "others_table": tables.others,
    "own_change": wording.own_change,
    "own_value": wording.own_value,
    "parts_tables": tables.parts,
    "percent": units.format_percent,
    "published_change": wording.published_change,
    "published_name": wording.published_name,
    "published_value": wording.published_value,
    "quoted": answer.quoted,
    "ranked_alone": rank_tables.alone,
    "ranked_known": rank_tables.known,
    "ranked_pairs": rank_tables.pairs,
    "ranked_remarks": rank_tables.remarks,
    "ranked_together": rank_tables.combined,
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
    "no_verdict": tables.NO_VERDICT,
    "pooled": tables.POOLED,
    "ranked_title": rank_tables.TITLE,
}


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("iostudy.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= _FILTERS
    environment.globals |= _GLOBALS
    return environment
