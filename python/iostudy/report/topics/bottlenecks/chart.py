"""Chart of utilization over the typical trial of each configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import altair as alt

from iostudy.report.charts import palette
from iostudy.report.charts.drawing import Spec, make_chart, make_legend
from iostudy.report.section import Chart
from iostudy.report.topics.bottlenecks.values import BottleneckReport, Timeline, TimelineSeries
from iostudy.report.values import Report, WorkloadReport

_HIGH = 130
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_COURSE = "course"


def build_timeline_charts(workload: WorkloadReport, report: Report) -> tuple[Chart, ...]:
    """One for each configuration with a timeline, all with the same lines and on the same axes."""
    limited = [own for own in report.limits if own.workload == workload.label and own.timeline]
    lines = list(dict.fromkeys(_name(each) for own in limited for each in _series(own)))
    seconds = [own.timeline.seconds[-1] for own in limited if own.timeline]
    highest = max((_highest(each) for own in limited for each in _series(own)), default=0.0)
    # They differ in title and data alone, and Altair takes long to make one.
    common = _chart(lines, max(seconds), highest) if lines else {}
    return tuple(
        Chart(
            {**common, "title": own.configuration.split(", "), "datasets": {_COURSE: rows}},
            f"{own.configuration}, trial {own.typical}: {_describe_timeline(own)}",
            "",
        )
        for own in limited
        if own.timeline and (rows := list(_rows(own.timeline)))
    )


def _series(own: BottleneckReport) -> tuple[TimelineSeries, ...]:
    return own.timeline.series if own.timeline else ()


def _highest(series: TimelineSeries) -> float:
    return max(value for value in series.values if value is not None)


def _chart(lines: list[str], seconds: float, percent: float) -> Spec:
    x = alt.X("seconds:Q", title="seconds").scale(domain=[0, seconds], nice=False)
    y = alt.Y("percent:Q", title="%", axis=alt.Axis(tickCount=3)).scale(
        domain=[0, max(100.0, percent)]
    )
    colours = palette.cycle_items(palette.COLOURS, len(lines))
    dashes = [_DASHES[place % len(_DASHES)] for place in range(len(lines))]
    base = alt.Chart(alt.NamedData(_COURSE)).mark_line(
        interpolate="step-before", strokeWidth=1.6, opacity=0.9
    )
    layer = base.encode(
        x=x.axis(alt.Axis(tickCount=5, grid=False)),
        y=y,
        color=alt.Color("part:N", legend=make_legend(lines)).scale(domain=lines, range=colours),
        strokeDash=alt.StrokeDash("part:N", legend=make_legend(lines)).scale(
            domain=lines, range=dashes
        ),
    )
    return make_chart((layer,), height=_HIGH)


def _rows(timeline: Timeline) -> Iterator[dict[str, Any]]:
    """A step from the end of each stretch to the one before, the first of them to the start."""
    for series in timeline.series:
        name = _name(series)
        yield {"part": name, "seconds": 0.0, "percent": series.values[0]}
        for seconds, value in zip(timeline.seconds, series.values, strict=True):
            yield {"part": name, "seconds": seconds, "percent": value}


def _name(series: TimelineSeries) -> str:
    return " ".join(filter(None, (series.of, series.name)))


def _describe_timeline(own: BottleneckReport) -> str:
    """The course in words: how far each line reaches."""
    return "; ".join(f"{_name(each)} {_span(each)}" for each in _series(own))


def _span(series: TimelineSeries) -> str:
    known = [value for value in series.values if value is not None]
    return f"{min(known):.0f} to {max(known):.0f} %"
