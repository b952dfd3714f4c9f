"""Chart of latency percentiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import altair as alt

from iostudy.report.charts.drawing import Spec, encode_configuration, make_chart
from iostudy.report.formatting import format_figure
from iostudy.report.section import Chart
from iostudy.report.topics.measurements.values import LatencyReport
from iostudy.report.values import Report, WorkloadReport
from iostudy.workloads.native.latency import PERCENTILES

_SHARES = (2, 10, 100, 1000, 10_000, 100_000, 1_000_000)
"""One in so many is slower: where the axis has its marks (50 %, 90 %, 99 % and so on)."""


def build_latency_charts(workload: WorkloadReport, report: Report) -> Iterator[Chart]:
    """Return a chart per operation with latencies, a line per configuration.

    The axis of shares is stretched towards 100 %, as in HdrHistogram: each further nine takes
    the same space, which shows rare slow operations.
    """
    for operation in dict.fromkeys(latency.operation for latency in workload.latencies):
        own = [latency for latency in workload.latencies if latency.operation == operation]
        spec = _chart(operation, own, report)
        yield Chart(spec, f"latency of {operation}; the table has figures", "")


def _chart(operation: str, latencies: Sequence[LatencyReport], report: Report) -> Spec:
    colour, shape = encode_configuration(report)
    marks = list(_SHARES[: 1 + sum(share < max(t.count for t in latencies) for share in _SHARES)])
    axis = alt.Axis(values=marks, labelExpr="format(100 - 100 / datum.value, '.6~g')", grid=True)
    x = alt.X("slower:Q", title="percentile", axis=axis)
    x = x.scale(type="log", nice=False)
    y = alt.Y("us:Q", title="latency, us", axis=alt.Axis(format=",.3~r", tickCount=6))
    y = y.scale(type="log", nice=False)
    layers = (
        alt.Chart(alt.NamedData("curve"))
        .mark_line(strokeWidth=1.8, interpolate="step-before", opacity=0.9)
        .encode(x=x, y=y, color=colour),
        alt.Chart(alt.NamedData("percentiles"))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(x=x, y=y, color=colour, shape=shape, tooltip=_TOOLTIP),
    )
    rows = {
        "curve": [row for own in latencies for row in _curve(own)],
        "percentiles": [row for own in latencies for row in _points(own)],
    }
    return make_chart(layers, height=240, title=operation, rows=rows)


def _curve(latency: LatencyReport) -> Iterator[dict[str, Any]]:
    for upper_us, within in zip(latency.upper_us, accumulate(latency.counts), strict=True):
        yield _row(latency, upper_us, _slower(latency.count, within))


def _points(latency: LatencyReport) -> Iterator[dict[str, Any]]:
    """The percentiles of the table, as far as so few latencies have them."""
    shares = {f"p{p:g}": 100 / (100 - p) for p in PERCENTILES}
    shares["max"] = longest = _slower(latency.count, latency.count)
    for name, us in latency.percentiles_us.items():
        if shares[name] <= longest:
            text = f"{format_figure(us)} us"
            yield _row(latency, us, shares[name]) | {"percentile": name, "latency": text}


def _row(latency: LatencyReport, us: float, slower: float) -> dict[str, Any]:
    return {"configuration": latency.configuration, "us": us, "slower": float(f"{slower:.5g}")}


def _slower(count: int, within: int) -> float:
    """One in so many is slower; the longest counts as half of one, for it has no place at 100 %."""
    return count / max(count - within, 0.5)


_TOOLTIP = [alt.Tooltip(name) for name in ("configuration:N", "percentile:N", "latency:N")]
