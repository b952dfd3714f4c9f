"""Charts of telemetry by configuration, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from iostudy.report.charts.drawing import (
    Spec,
    compute_row_pixels,
    encode_configuration,
    has_many_configurations,
    make_chart,
    make_label_axis,
    round_value,
)
from iostudy.report.section import Chart
from iostudy.report.topics.bottlenecks.telemetry import convert_meter_value
from iostudy.report.trials import TrialReport
from iostudy.report.values import Report, WorkloadReport

_ROW_PIXELS = 22
_METERED = "trials"


@dataclass(frozen=True)
class Meter:
    """A telemetry figure with a chart of its own: where it is found, and how it is called."""

    key: str
    title: str
    of_device: bool


METERS = (
    Meter("rkB/s", "read, MiB/s", of_device=True),
    Meter("wkB/s", "written, MiB/s", of_device=True),
    Meter("r_await", "r_await, ms", of_device=True),
    Meter("w_await", "w_await, ms", of_device=True),
    Meter("aqu-sz", "aqu-sz, requests", of_device=True),
    Meter("%util", "%util of the device", of_device=True),
    Meter("%iowait", "%iowait of all CPUs", of_device=False),
    Meter("%system", "%system of all CPUs", of_device=False),
    Meter("io_some", "io pressure (some), % of time", of_device=False),
)


def build_telemetry_charts(workload: WorkloadReport, report: Report) -> tuple[Chart, ...]:
    """One small chart for each meter that moved: every counted trial, and the mean.

    None with more configurations than a small chart can label; the table has all of them.
    """
    if has_many_configurations(report):
        return ()
    trials = [t for t in report.trials if t.workload == workload.label and t.counts]
    moved = {meter: own for meter in METERS if (own := _meter_rows(meter, trials))}
    # They differ in title and data alone, and Altair takes long to make one.
    common = _meter(report) if moved else {}
    return tuple(
        Chart(
            {**common, "title": meter.title, "datasets": {_METERED: own}, **_high(own, report)},
            f"{meter.title} of every configuration",
            "",
        )
        for meter, own in moved.items()
    )


def _meter_rows(meter: Meter, trials: Sequence[TrialReport]) -> list[dict[str, Any]]:
    """None where the meter did not move."""
    rows = [
        {"configuration": trial.configuration, "number": trial.number, "value": round_value(value)}
        for trial in trials
        if (value := _reading(meter, trial)) is not None
    ]
    return rows if any(row["value"] for row in rows) else []


def _meter(report: Report) -> Spec:
    order = [configuration.label for configuration in report.configurations]
    y = alt.Y("configuration:N", title=None, sort=order, axis=make_label_axis(order))
    colour, shape = encode_configuration(report, legend=False)
    x = alt.X("value:Q", title=None, axis=alt.Axis(tickCount=4)).scale(zero=True)
    base = alt.Chart(alt.NamedData(_METERED)).encode(y=y)
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
    return make_chart(layers, height=0)


def _high(rows: Sequence[Mapping[str, Any]], report: Report) -> dict[str, int]:
    """A row for each configuration that has a reading."""
    labels = [configuration.label for configuration in report.configurations]
    shown = {row["configuration"] for row in rows}
    return {"height": compute_row_pixels(labels, _ROW_PIXELS) * len(shown)}


def _reading(meter: Meter, trial: TrialReport) -> float | None:
    figures = trial.devices.get(trial.device, {}) if meter.of_device else trial.machine
    return convert_meter_value(meter.key, figures.get(meter.key))


def _rounded(field: str, aggregate: str = "") -> alt.Tooltip:
    name = f"{aggregate}({field}):Q" if aggregate else f"{field}:Q"
    return alt.Tooltip(name, format=".3s", title=f"{aggregate} {field}".strip())
