"""Tests of the forest plot: positions, ticks and cut intervals."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.report.topics.verdicts import ChangeAxis, Result, build_axis
from tests.report.factory import report, result, span

MARGIN = 0.03


def results(*intervals: tuple[float, float, float]) -> list[Result]:
    """Comparisons with these changes and intervals."""
    return [
        result(f"c{n}", Verdict.INCONCLUSIVE, change=change, interval=span(low, high))
        for n, (low, change, high) in enumerate(intervals)
    ]


def axis(*intervals: tuple[float, float, float]) -> ChangeAxis:
    made = build_axis(results(*intervals), MARGIN)
    assert made is not None
    return made


def test_there_is_no_axis_before_there_is_an_interval() -> None:
    assert build_axis(report(blocks=1).workloads[0].results, MARGIN) is None


def test_positions_are_logarithmic() -> None:
    interval = (-0.5, 0.0, 1.0)
    row = axis(interval).build_row(*results(interval))
    assert row.low is not None and row.high is not None and row.point is not None
    assert math.isclose(row.point - row.low, row.high - row.point, abs_tol=0.02)


def test_the_zone_is_the_margin_on_both_sides_of_zero() -> None:
    made = axis((-0.1, 0.0, 0.1))
    (low, high), zero = made.zone, made.place(0.0)
    assert math.isclose(zero - low, high - zero, abs_tol=0.02)
    assert 0 < low < zero < high < 100


def test_ticks_are_percent_on_short_axes_and_ratios_on_long_ones() -> None:
    assert [label for _, label in axis((-0.12, -0.1, 0.13)).list_ticks()] == [
        "-10 %",
        "-5 %",
        "0",
        "+5 %",
        "+10 %",
    ]
    assert [label for _, label in axis((24.0, 29.0, 35.0)).list_ticks()] == [
        "0",
        "2 x",
        "5 x",
        "10 x",
        "20 x",
    ]


@pytest.mark.parametrize("high", [0.001, 0.02, 0.3, 0.9, 3.0, 50.0, 900.0, 1e5])
def test_ticks_are_few_and_apart(high: float) -> None:
    made = axis((-0.01, 0.0, 0.01), (high / 2, high * 0.7, high))
    positions = [position for position, _ in made.list_ticks()]
    assert 2 <= len(positions) <= 7
    assert all(b - a > 8 for a, b in pairwise(positions))


def test_an_uninformative_interval_is_cut() -> None:
    intervals = (-0.02, 0.0, 0.02), (-0.999, 0.5, 1e6)
    cut = axis(*intervals).build_row(results(*intervals)[1])
    assert (cut.low_cut, cut.high_cut, cut.point) == (True, True, None)
    assert (cut.low, cut.high) == (0.0, 100.0)


def test_a_comparison_without_an_interval_keeps_its_row() -> None:
    late = result("late", Verdict.INCONCLUSIVE, blocks=0)
    assert axis((-0.1, 0.0, 0.1)).build_row(late).low is None
