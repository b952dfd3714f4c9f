"""Charts of the report on a fleet: forest plots, and heat maps of nodes by configuration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iostudy.report.drawing import GREEN, INK, RED, Spec, field, layer, make_chart
from iostudy.report.formatting import format_figure, format_signed_change
from iostudy.report.section import Chart
from iostudy.report.topics.verdicts import Result, describe_results, draw_intervals
from iostudy.units import format_percent
from iostudy_fleet.report.values import (
    BaselineSpread,
    FleetComparison,
    FleetDifference,
    FleetReport,
    NodeReport,
)

MEAN, NEW_NODE = "mean", "new node"

_CELL_PIXELS = 26
_STRONGEST = 0.62
"""Strongest shade, on which text stays readable."""
_LEAST_CHANGE = 0.05
"""Smallest change with the strongest shade, so that noise alone stays pale."""


def build_forest_chart(comparison: FleetComparison, report: FleetReport) -> Chart | None:
    """All nodes by their change, then mean and prediction; None without an interval."""
    key = (comparison.workload, comparison.configuration)
    results = [
        result.model_copy(update={"configuration": node.node})
        for node in report.nodes
        for result in find_results(node, *key)
        if result.change is not None
    ]
    rows = [
        *sorted(results, key=lambda result: result.change or 0.0),
        _pooled_row(MEAN, comparison.mean),
        _pooled_row(NEW_NODE, comparison.new_node),
    ]
    title = [f"change of {comparison.figure.name}", f"against {report.baseline}, %"]
    spec = draw_intervals(rows, report.margin, title, "node")
    if spec is None:
        return None
    return Chart(
        spec,
        f"{comparison.workload}, {comparison.configuration}: {describe_results(rows)}",
        f"{comparison.configuration} on {comparison.workload}. Point: change. Bar: the node's own "
        f"interval; of the mean, that over nodes; of a new node, the prediction interval. Shaded: "
        f"within the margin of {format_percent(report.margin)}.",
    )


def _pooled_row(label: str, difference: FleetDifference) -> Result:
    return Result(
        configuration=label,
        baseline=False,
        blocks=0,
        value=None,
        change=difference.change,
        interval=difference.interval,
        verdict=difference.verdict,
        by_margin=difference.by_margin,
    )


def build_heat_map(baseline: BaselineSpread, report: FleetReport) -> Chart | None:
    """Figures of nodes and configurations, relative to the mean of all nodes."""
    means = fleet_means(baseline.workload, report)
    cells = list(_cells(baseline, report, means))
    if not cells:
        return None
    strongest = max(math.log1p(_LEAST_CHANGE), *(abs(cell["log"]) for cell in cells))
    rows = [{**cell, "strength": _STRONGEST * abs(cell["log"]) / strongest} for cell in cells]
    axis = {"orient": "top", "labelAngle": 0, "labelExpr": "split(datum.label, ', ')"}
    cell: Spec = {
        "x": field("configuration:N", sort=None, title=None, axis=axis),
        "y": field("node:N", sort=None, title=None),
        "tooltip": [field(f"{name}:N") for name in ("node", "configuration", "figure", "change")],
    }
    scale = {"domain": ["better", "worse"], "range": [GREEN, RED]}
    shade = {
        "color": field("side:N", legend=None, scale=scale),
        "opacity": field("strength:Q", legend=None, scale=None),
    }
    layers = (
        layer(rows, "rect", cell | shade),
        layer(rows, "text", cell | {"text": "change:N"}, color=INK),
    )
    return Chart(
        make_chart(layers, height=_CELL_PIXELS * (1 + len({row["node"] for row in rows}))),
        f"Heat map of {baseline.figure.name} by node and configuration; the table has its figures.",
        f"{baseline.figure.name} on {baseline.workload}, relative to the mean of all nodes under "
        "the same configuration. Green: better. Red: worse. A red row is a slow node; a single "
        "coloured cell is a node that responds in another way.",
    )


def _cells(
    baseline: BaselineSpread, report: FleetReport, means: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    sign = 1 if baseline.figure.higher_is_better else -1
    for node in report.nodes:
        for label, mean in means.items():
            for result in find_results(node, baseline.workload, label):
                if result.value is None:
                    continue
                log = math.log(result.value / mean)
                yield {
                    "node": node.node,
                    "configuration": label,
                    "log": round(log, 6),
                    "side": "better" if sign * log > 0 else "worse",
                    "figure": f"{format_figure(result.value)} {baseline.figure.unit}",
                    "change": format_signed_change(math.expm1(log)),
                }


def fleet_means(workload: str, report: FleetReport) -> dict[str, float]:
    """Return the geometric mean over nodes of each configuration on the workload."""
    values: dict[str, list[float]] = {}
    for node in report.nodes:
        for result in find_results(node, workload):
            if result.value is not None:
                values.setdefault(result.configuration, []).append(result.value)
    return {
        label: math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
        for label, ratios in values.items()
    }


def find_results(
    node: NodeReport, workload: str, configuration: str | None = None
) -> Sequence[Result]:
    """Return the node's results on the workload, or the one of a configuration."""
    return [
        result
        for entry in node.workloads
        if entry.workload == workload
        for result in entry.results
        if configuration is None or result.configuration == configuration
    ]
