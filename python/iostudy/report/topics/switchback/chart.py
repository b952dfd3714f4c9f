"""Chart of the confirmation of windows by whole trials."""

from __future__ import annotations

import altair as alt

from iostudy.report.charts import palette
from iostudy.report.charts.drawing import make_chart, make_legend
from iostudy.report.section import Chart
from iostudy.report.values import Report

_ROW_HEIGHT = 44
_MEASURED = ["windows", "whole trials"]
"""The measurements that the chart compares."""


def build_confirmation_chart(report: Report) -> Chart:
    """The change of every confirmed comparison in windows and in whole trials."""
    rows = [
        {
            "comparison": f"{each.configuration} on {own.workload}",
            "measured": measured,
            "change": _percent(change),
            "low": _percent(span.low),
            "high": _percent(span.high),
        }
        for own in report.switchback
        for each in own.confirmations
        for measured, change, span in (
            (_MEASURED[0], each.windows_change, each.windows_interval),
            (_MEASURED[1], each.change, each.interval),
        )
        if span is not None
    ]
    margin = 100 * report.method.margin
    band = [{"low": -margin, "high": margin}]
    colour = alt.Color("measured:N", legend=make_legend(_MEASURED)).scale(
        domain=_MEASURED, range=[palette.BLUE, palette.RED]
    )
    y = alt.Y("comparison:N", title="", sort=None)
    offset = alt.YOffset("measured:N", sort=_MEASURED)
    x = alt.X("low:Q", title="change against the baseline, %", axis=alt.Axis(format="+.0f"))
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y, yOffset=offset, color=colour)
    layers = [
        alt.Chart(alt.InlineData(values=band)).mark_rect(opacity=0.1).encode(x=x, x2="high:Q"),
        base.mark_rule(strokeWidth=1.8).encode(x=x, x2="high:Q"),
        base.mark_point(filled=True, size=45, opacity=1).encode(x=alt.X("change:Q")),
    ]
    height = _ROW_HEIGHT * len({row["comparison"] for row in rows})
    return Chart(
        make_chart(layers, height=height, title="Confirmation by whole trials"),
        "Chart of the change of each confirmed comparison in windows and in whole trials; the "
        "table below has the figures.",
        "Point: change. Line: interval, of windows that of the verdict, of whole trials at 95 %. "
        "Band: the margin.",
    )


def _percent(change: float) -> float:
    """Return a change, a fraction, in percent."""
    return float(f"{100 * change:.4g}")
