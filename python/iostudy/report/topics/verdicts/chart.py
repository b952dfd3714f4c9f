"""Chart of trials in run order, as a Vega-Lite specification."""

from __future__ import annotations

from typing import Any

import altair as alt

from iostudy.report.charts.drawing import (
    encode_configuration,
    make_chart,
    round_value,
)
from iostudy.report.formatting import UNKNOWN, describe_trial
from iostudy.report.section import Chart
from iostudy.report.trials import TrialReport
from iostudy.report.values import Report, WorkloadReport


def build_run_order_chart(workload: WorkloadReport, report: Report) -> Chart | None:
    """Return a chart of every trial in run order; None without figures.

    A trial that does not count is hollow and crossed out; one without a figure is a cross at
    the bottom. A slow run has a ring.
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
        "slow": [trial for trial in measured if trial.counts and trial.slow],
        "without a figure": [trial for trial in trials if trial.value is None],
    }
    layers = (
        _points("counted", filled=True, size=55, opacity=0.9).encode(**coded),
        _points("left out", filled=False, size=55).encode(**coded),
        _points("left out", **_CROSS).encode(y=y),
        _points("slow", **_RING).encode(y=y),
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


def _trial_row(trial: TrialReport) -> dict[str, Any]:
    return {
        "number": trial.number,
        "value": round_value(trial.value),
        "configuration": trial.configuration,
        "block": trial.block,
        "status": trial.status.value,
        "counts": trial.counts,
        "slow": trial.slow,
        "remark": describe_trial(trial) or UNKNOWN,
    }


def _tooltips(*fields: str) -> list[alt.Tooltip]:
    return [alt.Tooltip(field) for field in fields]


_RUN_ORDER_LEGEND = (
    "Hollow with a cross: not counted. Cross at the bottom: no figure. Ring: slow against "
    "the median of its configuration, counted."
)
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
