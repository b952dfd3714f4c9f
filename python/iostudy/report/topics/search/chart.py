"""Chart of the response to a parameter, with the candidates."""

from __future__ import annotations

from typing import Any

import altair as alt

from iostudy.report.charts import drawing, palette
from iostudy.report.formatting import format_change_interval, format_signed_change
from iostudy.report.section import Chart
from iostudy.report.topics.search.values import (
    CandidateReport,
    MainEffectPoint,
    MainEffectReport,
    SearchReport,
)

HEIGHT = 220
_BAND, _POINTS = 0.2, 0.7
_TICK = 40


def build_response_chart(curve: MainEffectReport, search: SearchReport) -> Chart:
    """The curve with its interval; each candidate a point, the larger the more blocks it ran."""
    best = max(curve.points, key=lambda own: own.change)
    rows = {
        "curve": [_build_curve_row(own, curve) for own in curve.points],
        "candidates": [
            _build_candidate_row(own, own.change, curve)
            for own in search.candidates
            if own.change is not None and curve.parameter in own.point
        ],
    }
    return Chart(
        spec=drawing.make_chart((*_response(curve), _candidates(curve)), height=HEIGHT, rows=rows),
        alternative=(
            f"Performance against the default by {curve.parameter}, averaged over all other "
            f"parameters. It is highest at {best.value}, with "
            f"{format_change_interval(best.change, best.interval)}."
        ),
        legend=(
            f"{curve.parameter}: performance against the default, averaged over all other "
            "parameters, with a 95 % interval that holds at each value by itself. Each candidate "
            "is a point, the larger the more blocks it ran."
        ),
    )


def _build_curve_row(own: MainEffectPoint, curve: MainEffectReport) -> dict[str, Any]:
    low, high = own.interval.low, own.interval.high
    figures = {"change": own.change, "low": low, "high": high}
    text = {name: drawing.round_value(value) for name, value in figures.items()}
    return {"value": _placed(own.value, curve), **text}


def _build_candidate_row(
    own: CandidateReport, change: float, curve: MainEffectReport
) -> dict[str, Any]:
    return {
        "candidate": own.label,
        "value": _placed(own.point[curve.parameter], curve),
        "change": drawing.round_value(change),
        "blocks": own.blocks,
        "change_text": format_signed_change(change),
    }


def _response(curve: MainEffectReport) -> tuple[alt.Chart, ...]:
    """A line with a band; where the values are names, a mark and a bar for each."""
    base = alt.Chart(alt.NamedData("curve")).encode(x=_across(curve))
    ends = {"y": _upwards("low"), "y2": alt.Y2("high:Q")}
    middle = {"y": _upwards("change")}
    if curve.is_range:
        return (
            base.mark_area(color=palette.BLUE, opacity=_BAND).encode(**ends),
            base.mark_line(color=palette.BLUE).encode(**middle),
        )
    return (
        base.mark_rule(color=palette.BLUE, strokeWidth=2).encode(**ends),
        base.mark_tick(color=palette.BLUE, thickness=3, size=_TICK).encode(**middle),
    )


def _candidates(curve: MainEffectReport) -> alt.Chart:
    tooltip = [
        *(alt.Tooltip(f"{name}:N") for name in ("candidate", "value", "blocks")),
        alt.Tooltip("change_text:N", title="change"),
    ]
    size = alt.Size("blocks:Q", legend=None).scale(range=[20, 120])
    points: alt.Chart = (
        alt.Chart(alt.NamedData("candidates"))
        .mark_point(filled=True, color=palette.RED, opacity=_POINTS)
        .encode(x=_across(curve), y=_upwards("change"), size=size, tooltip=tooltip)
    )
    return points


def _placed(value: str, curve: MainEffectReport) -> Any:
    return float(value) if curve.is_range else value


def _across(curve: MainEffectReport) -> alt.X:
    if not curve.is_range:
        return alt.X("value:N", title=curve.parameter, axis=alt.Axis(labelAngle=0), sort=None)
    scale = alt.Scale(type="log" if curve.log else "linear", zero=False, nice=False)
    return alt.X("value:Q", title=curve.parameter, scale=scale)


def _upwards(field: str) -> alt.Y:
    axis = alt.Axis(labelExpr="format(datum.value * 100, ',')")
    return alt.Y(f"{field}:Q", title="against default, %", axis=axis)
