"""Tests of the forest plot: positions, ticks and cut intervals."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.report.topics.intervals import ForestPlot, build_forest_plot
from iostudy.report.values import Report
from tests.report.factory import report, result, span


def report_with(*intervals: tuple[float, float, float]) -> Report:
    """Comparisons of one workload with these changes and intervals."""
    whole = report()
    results = (
        result("none"),
        *(
            result(f"c{n}", Verdict.INCONCLUSIVE, change=change, interval=span(low, high))
            for n, (low, change, high) in enumerate(intervals)
        ),
    )
    workload = whole.workloads[0].model_copy(update={"results": results})
    return whole.model_copy(update={"workloads": (workload,)})


def plot(*intervals: tuple[float, float, float]) -> ForestPlot:
    made = build_forest_plot(report_with(*intervals))
    assert made is not None
    return made


def test_every_comparison_of_every_workload_has_a_row() -> None:
    made = build_forest_plot(report())
    assert made is not None
    assert [(g.verdicts.workload, len(g.rows)) for g in made.groups] == [
        ("file-writes", 3),
        ("file-reads", 3),
    ]


def test_there_is_no_plot_before_there_is_an_interval() -> None:
    assert build_forest_plot(report(blocks=1)) is None


def test_positions_are_logarithmic() -> None:
    (row,) = plot((-0.5, 0.0, 1.0)).groups[0].rows
    assert row.low is not None and row.high is not None and row.point is not None
    assert math.isclose(row.point - row.low, row.high - row.point, abs_tol=0.02)


def test_the_zone_is_the_margin_on_both_sides_of_zero() -> None:
    made = plot((-0.1, 0.0, 0.1))
    low, high = made.zone
    assert math.isclose(made.zero - low, high - made.zero, abs_tol=0.02)
    assert 0 < low < made.zero < high < 100


def test_ticks_are_percent_on_short_axes_and_ratios_on_long_ones() -> None:
    assert [t.label for t in plot((-0.12, -0.1, 0.13)).ticks] == [
        "-10 %",
        "-5 %",
        "0",
        "+5 %",
        "+10 %",
    ]
    assert [t.label for t in plot((24.0, 29.0, 35.0)).ticks] == ["0", "2 x", "5 x", "10 x", "20 x"]


@pytest.mark.parametrize("high", [0.001, 0.02, 0.3, 0.9, 3.0, 50.0, 900.0, 1e5])
def test_ticks_are_few_and_apart(high: float) -> None:
    made = plot((-0.01, 0.0, 0.01), (high / 2, high * 0.7, high))
    positions = [tick.position for tick in made.ticks]
    assert 2 <= len(positions) <= 7
    assert all(b - a > 8 for a, b in pairwise(positions))


def test_an_uninformative_interval_is_cut() -> None:
    made = plot((-0.02, 0.0, 0.02), (-0.999, 0.5, 1e6))
    cut = made.groups[0].rows[1]
    assert (cut.low_cut, cut.high_cut, cut.point) == (True, True, None)
    assert (cut.low, cut.high) == (0.0, 100.0)


def test_a_comparison_without_an_interval_keeps_its_row() -> None:
    whole = report_with((-0.1, 0.0, 0.1))
    (workload,) = whole.workloads
    results = (*workload.results, result("late", Verdict.INCONCLUSIVE, blocks=0))
    changed = workload.model_copy(update={"results": results})
    made = build_forest_plot(whole.model_copy(update={"workloads": (changed,)}))
    assert made is not None
    assert made.groups[0].rows[-1].low is None
