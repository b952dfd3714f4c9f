"""Charts of intervals and of trials in run order, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from iostudy.analysis.verdict import Verdict
from iostudy.report.charts import palette
from iostudy.report.charts.drawing import (
    compute_row_pixels,
    encode_configuration,
    make_chart,
    make_label_axis,
    make_legend,
    round_value,
)
from iostudy.report.formatting import UNKNOWN, describe_trial, format_against
from iostudy.report.section import Chart
from iostudy.report.topics.verdicts.names import name_configuration
from iostudy.report.topics.verdicts.text import format_blocks, format_change, format_verdict
from iostudy.report.topics.verdicts.values import Result
from iostudy.report.trials import TrialReport
from iostudy.report.values import Report, WorkloadReport
from iostudy.results.change_text import LARGEST_CHANGE
from iostudy.units import format_percent

_ROW_PIXELS = 34


def build_interval_chart(workload: WorkloadReport, report: Report) -> Chart | None:
    """Change against the baseline with its interval, and the zone within the margin shaded.

    Every comparison keeps its row: what reaches beyond the axis ends in an arrow. None while no
    comparison has an interval.
    """
    texts = [result for result in workload.results if not result.baseline]
    if not any(result.interval for result in texts):
        return None
    margin = report.method.margin
    reach = _reach(texts, margin)
    rows = [_interval_row(result, reach) for result in texts]
    zone = alt.InlineData(values=[{"low": 100 * (1 / (1 + margin) - 1), "high": 100 * margin}])
    labels = [result.configuration for result in texts]
    y = alt.Y("configuration:N", sort=None, title=None, axis=make_label_axis(labels))
    y = y.scale(domain=labels)
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
        *_ends(rows, y),
        base.mark_point(filled=True, size=130, opacity=1).encode(
            x="change:Q",
            y=y,
            color=_verdict_colour(),
            shape=_verdict_shape(),
            tooltip=_INTERVAL_TOOLTIP,
        ),
    )
    spec = make_chart(layers, height=compute_row_pixels(labels, _ROW_PIXELS) * len(rows))
    return Chart(spec, _describe_results(texts), _intervals_legend(report))


def _describe_results(results: Sequence[Result]) -> str:
    texts = (f"{r.configuration} {format_change(r)}, {format_verdict(r)}" for r in results)
    return "; ".join(texts)


def _intervals_legend(report: Report) -> str:
    baseline = name_configuration(report.baseline, report.factor)
    margin = f"{format_percent(report.method.margin)} of {baseline}"
    return (
        "Point: mean change. Bar: its interval; arrow: the interval extends beyond the axis. "
        f"Shaded: within the margin of {margin}."
    )


def build_run_order_chart(workload: WorkloadReport, report: Report) -> Chart | None:
    """Return a chart of every trial in run order; None without figures.

    A trial that does not count is hollow and crossed out; one without a figure is a cross at
    the bottom. An outlier has a ring.
    """
    trials = [trial for trial in report.trials if trial.workload == workload.label]
    measured = [trial for trial in trials if trial.value is not None]
    if not measured:
        return None
    y = alt.Y("value:Q", title=f"{workload.figure.name}, {workload.figure.unit}").scale(zero=False)
    colour, shape = encode_configuration(report)
    coded: dict[str, Any] = {"y": y, "color": colour, "shape": shape}
    shown = {
        "counted": [trial for trial in measured if trial.counts],
        "left out": [trial for trial in measured if not trial.counts],
        "outlying": [trial for trial in measured if trial.counts and trial.outlier],
        "without a figure": [trial for trial in trials if trial.value is None],
    }
    layers = (
        _points("counted", filled=True, size=55, opacity=0.9).encode(**coded),
        _points("left out", filled=False, size=55).encode(**coded),
        _points("left out", **_CROSS).encode(y=y),
        _points("outlying", **_RING).encode(y=y),
        _points("without a figure", **_CROSS).encode(y=alt.value("height")),
    )
    spec = make_chart(
        (layer for layer in layers if shown[layer.data.name]),
        height=230,
        rows={name: list(map(_trial_row, own)) for name, own in shown.items() if own},
    )
    said = f"{workload.figure.name} of every trial in run order; the table below lists them"
    return Chart(spec, said, _RUN_ORDER_LEGEND)


def _points(data: str, **mark: Any) -> alt.Chart:
    x = alt.X("number:Q", title="trial, in run order").scale(nice=False, padding=8)
    axis = alt.Axis(tickMinStep=1, tickCount=8, format="d", grid=False)
    points = alt.Chart(alt.NamedData(data)).mark_point(**mark)
    encoded: alt.Chart = points.encode(x=x.axis(axis), tooltip=_TRIAL_TOOLTIP)
    return encoded


def _ends(rows: Sequence[dict[str, Any]], y: alt.Y) -> Iterator[alt.Chart]:
    """Return a bar at each end of an interval, or an arrow beyond the axis."""
    for end, arrow in (("low", "triangle-left"), ("high", "triangle-right")):
        for cut in (False, True):
            own = [row for row in rows if row[end] is not None and row[f"{end}_cut"] is cut]
            chart = alt.Chart(alt.InlineData(values=own))
            mark = (
                chart.mark_point(shape=arrow, filled=True, size=110, opacity=1)
                if cut
                else chart.mark_tick(thickness=2.5, size=11)
            )
            if own:
                yield mark.encode(
                    x=f"{end}:Q", y=y, color=_verdict_colour(), tooltip=_INTERVAL_TOOLTIP
                )


def _reach(results: Sequence[Result], margin: float) -> float:
    """Return the range of the axis to either side, as a fraction.

    An interval that contains zero and exceeds 100 % is ignored, because it would compress all
    others.
    """
    spans = [result.interval for result in results if result.interval is not None]
    telling = [s for s in spans if s.high <= 1 or (s.low > 0 and s.high < LARGEST_CHANGE)]
    ends = [abs(end) for span in telling for end in (span.low, span.high)]
    return max((2 * margin, *ends)) if telling else 1.0


def _interval_row(result: Result, reach: float) -> dict[str, Any]:
    """Return the row in percent, limited to ``reach``; None for absent values."""
    span, change = result.interval, result.change
    low, high = (None, None) if span is None else (span.low, span.high)
    return {
        "configuration": result.configuration,
        "change": None if change is None or abs(change) > reach else 100 * change,
        "low": _within(low, reach),
        "high": _within(high, reach),
        "low_cut": low is not None and low < -reach,
        "high_cut": high is not None and high > reach,
        "verdict": None if result.verdict is None else result.verdict.value,
        "change_text": format_change(result),
        "blocks": format_blocks(result),
    }


def _within(end: float | None, reach: float) -> float | None:
    return None if end is None else 100 * min(reach, max(-reach, end))


def _trial_row(trial: TrialReport) -> dict[str, Any]:
    return {
        "number": trial.number,
        "value": round_value(trial.value),
        "configuration": trial.configuration,
        "block": trial.block,
        "status": trial.status.value,
        "counts": trial.counts,
        "outlier": trial.outlier,
        "remark": describe_trial(trial) or UNKNOWN,
    }


def _change_title(workload: WorkloadReport, report: Report) -> list[str]:
    return [f"change of {workload.figure.name}", f"{format_against(report.baseline)}, %"]


def _verdict_colour() -> alt.Color:
    colours = [palette.choose_verdict_mark(verdict)[0] for verdict in Verdict]
    return alt.Color("verdict:N", legend=make_legend(_VERDICTS)).scale(
        domain=_VERDICTS, range=colours
    )


def _verdict_shape() -> alt.Shape:
    shapes = [palette.choose_verdict_mark(verdict)[1] for verdict in Verdict]
    return alt.Shape("verdict:N", legend=make_legend(_VERDICTS)).scale(
        domain=_VERDICTS, range=shapes
    )


def _tooltips(*fields: str) -> list[alt.Tooltip]:
    return [alt.Tooltip(field) for field in fields]


_RUN_ORDER_LEGEND = (
    "Hollow with a cross: not counted. Cross at the bottom: no figure. Ring: outlier among the "
    "trials of its configuration, counted."
)
_VERDICTS = [verdict.value for verdict in Verdict]
_INTERVAL_TOOLTIP = [
    *_tooltips("configuration:N"),
    alt.Tooltip("change_text:N", title="change"),
    *_tooltips("verdict:N", "blocks:N"),
]
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
