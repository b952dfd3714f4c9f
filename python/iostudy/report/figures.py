"""The charts as Vega-Lite specifications, made for any width from a phone to a wide screen.

Text and lines are drawn in the colour of the text around them (``currentColor``), so that one
specification serves light, dark and print.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from iostudy.analysis.verdict import Verdict
from iostudy.report import palette, wording
from iostudy.report.values import Report, Result, TrialTold, WorkloadTold

Spec = dict[str, Any]

SCHEMA_VERSION = alt.SCHEMA_VERSION.rpartition(".")[0]
"""The Vega-Lite version that the specifications are written for: ``v6.4``."""

_LABEL_PIXELS = 130
_ROW_PIXELS = 34
_SMALL_ROW_PIXELS = 22


@dataclass(frozen=True)
class Meter:
    """A telemetry figure with a chart of its own: where it is found, and how it is called."""

    key: str
    title: str
    of_device: bool
    divisor: float = 1.0


METERS = (
    Meter("rkB/s", "read (rkB/s), in MiB/s", of_device=True, divisor=1024),
    Meter("wkB/s", "written (wkB/s), in MiB/s", of_device=True, divisor=1024),
    Meter("r_await", "r_await, ms", of_device=True),
    Meter("w_await", "w_await, ms", of_device=True),
    Meter("aqu-sz", "aqu-sz, requests", of_device=True),
    Meter("%util", "%util of the device", of_device=True),
    Meter("%iowait", "%iowait of all CPUs", of_device=False),
    Meter("%system", "%system of all CPUs", of_device=False),
    Meter("io_some", "io pressure (some), % of time", of_device=False),
)


def intervals(workload: WorkloadTold, report: Report) -> Spec | None:
    """Change against the baseline with its interval, and the zone within the margin shaded.

    None while no comparison has an interval that can be drawn beside the margin.
    """
    told = [result for result in workload.results if _drawable(result)]
    if not told:
        return None
    rows = [_interval_row(result) for result in told]
    margin = report.method.margin
    zone = alt.InlineData(values=[{"low": 100 * (1 / (1 + margin) - 1), "high": 100 * margin}])
    y = alt.Y("configuration:N", sort=None, title=None, axis=alt.Axis(labelLimit=_LABEL_PIXELS))
    base = alt.Chart(alt.InlineData(values=rows))
    layers = (
        alt.Chart(zone).mark_rect(fill="currentColor", opacity=0.1).encode(x="low:Q", x2="high:Q"),
        alt.Chart(zone).mark_rule(color="currentColor", strokeWidth=1).encode(x=alt.datum(0)),
        base.mark_rule(strokeWidth=2.5).encode(
            x=alt.X("low:Q", title=_change_title(workload, report)).axis(tickCount=6),
            x2="high:Q",
            y=y,
            color=_verdict_colour(),
            tooltip=_INTERVAL_TOOLTIP,
        ),
        *(
            base.mark_tick(thickness=2.5, size=11).encode(
                x=end, y=y, color=_verdict_colour(), tooltip=_INTERVAL_TOOLTIP
            )
            for end in ("low:Q", "high:Q")
        ),
        base.mark_point(filled=True, size=130, opacity=1).encode(
            x="change:Q",
            y=y,
            color=_verdict_colour(),
            shape=_verdict_shape(),
            tooltip=_INTERVAL_TOOLTIP,
        ),
    )
    return _spec(layers, height=_ROW_PIXELS * len(rows))


def run_order(workload: WorkloadTold, report: Report) -> Spec | None:
    """Every trial of the workload in run order; None while none has a figure.

    A trial that does not count is hollow and crossed out; without a figure it is a cross at the
    foot. One that stands apart has a ring.
    """
    trials = [trial for trial in report.trials if trial.workload == workload.label]
    measured = [trial for trial in trials if trial.value is not None]
    if not measured:
        return None
    y = alt.Y("value:Q", title=f"{workload.figure.name}, {workload.figure.unit}").scale(zero=False)
    colour, shape = _by_configuration(report)
    counted = [trial for trial in measured if trial.counts]
    left_out = [trial for trial in measured if not trial.counts]
    layers = (
        _points(counted, filled=True, size=55, opacity=0.9).encode(y=y, color=colour, shape=shape),
        _points(left_out, filled=False, size=55).encode(y=y, color=colour, shape=shape),
        _points(left_out, **_CROSS).encode(y=y),
        _points([trial for trial in counted if trial.outlier], **_RING).encode(y=y),
        _points([trial for trial in trials if trial.value is None], **_CROSS).encode(
            y=alt.value("height")
        ),
    )
    return _spec((layer for layer in layers if layer.data.values), height=230)


def _points(trials: Sequence[TrialTold], **mark: Any) -> alt.Chart:
    x = alt.X("number:Q", title="trial, in run order").scale(nice=False, padding=8)
    data = alt.InlineData(values=[_trial_row(trial) for trial in trials])
    axis = alt.Axis(tickMinStep=1, tickCount=8, format="d", grid=False)
    points = alt.Chart(data).mark_point(**mark)
    encoded: alt.Chart = points.encode(x=x.axis(axis), tooltip=_TRIAL_TOOLTIP)
    return encoded


def telemetry(workload: WorkloadTold, report: Report) -> tuple[Spec, ...]:
    """One small chart for each meter that moved: every counted trial, and the mean."""
    trials = [t for t in report.trials if t.workload == workload.label and t.counts]
    charts = (_meter(meter, trials, report) for meter in METERS)
    return tuple(chart for chart in charts if chart is not None)


def _meter(meter: Meter, trials: Sequence[TrialTold], report: Report) -> Spec | None:
    rows = [
        {"configuration": trial.configuration, "number": trial.number, "value": value}
        for trial in trials
        if (value := _reading(meter, trial)) is not None
    ]
    if not any(row["value"] for row in rows):
        return None
    order = [configuration.label for configuration in report.configurations]
    y = alt.Y("configuration:N", title=None, sort=order, axis=alt.Axis(labelLimit=90))
    colour, shape = _by_configuration(report, legend=False)
    x = alt.X("value:Q", title=None, axis=alt.Axis(tickCount=4)).scale(zero=True)
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y)
    layers = (
        base.mark_tick(opacity=0.55, size=12, thickness=1.5).encode(
            x=x, color=colour, tooltip=["configuration:N", "number:Q", _rounded("value")]
        ),
        base.mark_point(filled=True, size=70, opacity=1).encode(
            x=alt.X("mean(value):Q", title=None),
            color=colour,
            shape=shape,
            tooltip=["configuration:N", _rounded("value", "mean")],
        ),
    )
    height = _SMALL_ROW_PIXELS * len({row["configuration"] for row in rows})
    return _spec(layers, height=height, title=meter.title)


def _reading(meter: Meter, trial: TrialTold) -> float | None:
    figures = trial.devices.get(trial.device, {}) if meter.of_device else trial.machine
    value = figures.get(meter.key)
    return None if value is None else value / meter.divisor


def _drawable(result: Result) -> bool:
    return result.interval is not None and result.interval.high < wording.BEYOND_TELLING


def _interval_row(result: Result) -> dict[str, Any]:
    assert result.change is not None
    assert result.interval is not None
    assert result.verdict is not None
    return {
        "configuration": result.configuration,
        "change": 100 * result.change,
        "low": 100 * result.interval.low,
        "high": 100 * result.interval.high,
        "verdict": result.verdict.value,
        "told": wording.change(result),
        "blocks": wording.blocks(result),
    }


def _trial_row(trial: TrialTold) -> dict[str, Any]:
    return {
        "number": trial.number,
        "value": trial.value,
        "configuration": trial.configuration,
        "block": trial.block,
        "status": trial.status.value,
        "counts": trial.counts,
        "outlier": trial.outlier,
        "remark": wording.remark(trial) or wording.UNKNOWN,
    }


def _change_title(workload: WorkloadTold, report: Report) -> str:
    return f"change of {workload.figure.name} against {report.baseline}, %"


def _verdict_colour() -> alt.Color:
    colours = [palette.verdict_mark(verdict)[0] for verdict in Verdict]
    return alt.Color("verdict:N", legend=_legend()).scale(domain=_VERDICTS, range=colours)


def _verdict_shape() -> alt.Shape:
    shapes = [palette.verdict_mark(verdict)[1] for verdict in Verdict]
    return alt.Shape("verdict:N", legend=_legend()).scale(domain=_VERDICTS, range=shapes)


def _by_configuration(report: Report, *, legend: bool = True) -> tuple[alt.Color, alt.Shape]:
    labels = [configuration.label for configuration in report.configurations]
    shown = _legend() if legend else None
    colours = palette.in_turn(palette.COLOURS, len(labels))
    shapes = palette.in_turn(palette.SHAPES, len(labels))
    return (
        alt.Color("configuration:N", legend=shown).scale(domain=labels, range=colours),
        alt.Shape("configuration:N", legend=shown).scale(domain=labels, range=shapes),
    )


def _legend() -> alt.Legend:
    """Above the chart, in two columns where a row would not fit."""
    columns: Any = alt.ExprRef("width < 420 ? 2 : 4")
    return alt.Legend(orient="top", title=None, columns=columns, labelLimit=_LABEL_PIXELS)


def _rounded(field: str, aggregate: str = "") -> alt.Tooltip:
    name = f"{aggregate}({field}):Q" if aggregate else f"{field}:Q"
    return alt.Tooltip(name, format=".3s", title=f"{aggregate} {field}".strip())


def _spec(layers: Iterable[alt.Chart], *, height: int, title: str = "") -> Spec:
    sized = alt.LayerChart(layer=list(layers), width="container", height=height)
    if title:
        sized = sized.properties(title=title)
    spec: Spec = sized.properties(background="transparent").configure(**_CONFIG).to_dict()
    return spec


def _tooltips(*fields: str) -> list[alt.Tooltip]:
    return [alt.Tooltip(field) for field in fields]


_VERDICTS = [verdict.value for verdict in Verdict]
_INTERVAL_TOOLTIP = _tooltips("configuration:N", "told:N", "verdict:N", "blocks:N")
_TRIAL_TOOLTIP = [
    *_tooltips("number:Q", "configuration:N", "block:Q"),
    alt.Tooltip("value:Q", format=".4r"),
    *_tooltips("status:N", "remark:N"),
]
_CROSS: dict[str, Any] = {
    "shape": "M-0.7,-0.7L0.7,0.7M-0.7,0.7L0.7,-0.7",
    "stroke": "currentColor",
    "strokeWidth": 1.5,
    "size": 90,
    "filled": False,
}
_RING: dict[str, Any] = {
    "shape": "circle",
    "stroke": "currentColor",
    "strokeWidth": 1.2,
    "size": 220,
    "filled": False,
}
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
_INK = "currentColor"
_CONFIG: dict[str, Any] = {
    "font": _FONT,
    "axis": {
        "labelColor": _INK,
        "titleColor": _INK,
        "tickColor": _INK,
        "domainColor": _INK,
        "gridColor": _INK,
        "gridOpacity": 0.12,
        "tickOpacity": 0.4,
        "domainOpacity": 0.4,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
    "legend": {
        "labelColor": _INK,
        "labelFontSize": 12,
        "symbolSize": 90,
        "symbolOpacity": 1,
        "rowPadding": 4,
    },
    "title": {"color": _INK, "fontSize": 12, "fontWeight": "bold", "anchor": "start", "offset": 6},
    "view": {"stroke": None},
}
