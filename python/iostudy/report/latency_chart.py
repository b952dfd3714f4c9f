"""Latencies as percentile curves: how long the slowest of two, of ten, of a thousand took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import altair as alt

from iostudy.report import wording
from iostudy.report.drawing import Spec, by_configuration, make
from iostudy.report.section import Drawn
from iostudy.report.values.report import Report
from iostudy.report.values.results import LatencyTold, WorkloadTold
from iostudy.workloads.native.latency import PERCENTILES

_SHARES = (2, 10, 100, 1000, 10_000, 100_000, 1_000_000)
"""One in so many is slower: where the axis has its marks (50 %, 90 %, 99 % and so on)."""


def charts(workload: WorkloadTold, report: Report) -> Iterator[Drawn]:
    """A chart for each operation that has latencies, a line for each configuration.

    The axis of shares is stretched towards 100 %, as HdrHistogram plots it: each further nine takes
    the same room, and what is rare and slow can be seen.
    """
    for operation in dict.fromkeys(told.operation for told in workload.latencies):
        own = [told for told in workload.latencies if told.operation == operation]
        spec = _chart(operation, own, report)
        yield Drawn(spec, f"latency of {operation}; the table has figures", "")


def _chart(operation: str, told: Sequence[LatencyTold], report: Report) -> Spec:
    colour, shape = by_configuration(report)
    marks = list(_SHARES[: 1 + sum(share < max(t.count for t in told) for share in _SHARES)])
    axis = alt.Axis(values=marks, labelExpr="format(100 - 100 / datum.value, '.6~g')", grid=True)
    x = alt.X("slower:Q", title="share that took at most so long, %", axis=axis)
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
        "curve": [row for own in told for row in _curve(own)],
        "percentiles": [row for own in told for row in _points(own)],
    }
    return make(layers, height=240, title=operation, rows=rows)


def _curve(told: LatencyTold) -> Iterator[dict[str, Any]]:
    for upper_us, within in zip(told.upper_us, accumulate(told.counts), strict=True):
        yield _row(told, upper_us, _slower(told.count, within))


def _points(told: LatencyTold) -> Iterator[dict[str, Any]]:
    """The percentiles of the table, as far as so few latencies have them."""
    shares = {f"p{p:g}": 100 / (100 - p) for p in PERCENTILES}
    shares["max"] = longest = _slower(told.count, told.count)
    for name, us in told.percentiles_us.items():
        if shares[name] <= longest:
            text = f"{wording.significant(us)} us"
            yield _row(told, us, shares[name]) | {"percentile": name, "latency": text}


def _row(told: LatencyTold, us: float, slower: float) -> dict[str, Any]:
    return {"configuration": told.configuration, "us": us, "slower": float(f"{slower:.5g}")}


def _slower(count: int, within: int) -> float:
    """One in so many is slower; the longest counts as half of one, for it has no place at 100 %."""
    return count / max(count - within, 0.5)


_TOOLTIP = [alt.Tooltip(name) for name in ("configuration:N", "percentile:N", "latency:N")]
