"""Tests of scaling curves in the report: values, knees, crossings and published curves."""

from __future__ import annotations

import json
import math

import pytest

from iostudy.report.render import html, json_
from iostudy.report.topics.scaling import (
    ScalingCurve,
    ScalingReport,
    build_scaling_charts,
    build_scaling_sections,
    describe_crossings,
)
from iostudy.report.topics.scaling import build_scaling as curves_of
from iostudy.report.values import Report
from tests.json_schema import assert_conforms
from tests.report import factory
from tests.report.loaded import CURVES, EVENTS, TEXT, curves, report, study

FLAT = dict.fromkeys(CURVES, (100.0, 100.0, 100.0, 100.0))
TIMES = TEXT.replace("size: 1MiB", "size: 1MiB, figure: read_latency_p99")


def curve(scaling: ScalingReport, configuration: str) -> ScalingCurve:
    return next(own for own in scaling.curves if own.configuration == configuration)


def saturation(made: Report, configuration: str) -> tuple[str, ...]:
    """Return where a configuration saturates, is stable and is best, as the section has it."""
    (section,) = build_scaling_sections(made)
    (table,) = (own for own in section.tables if own.title == "saturation")
    (row,) = (own for own in table.rows if own[0] == configuration)
    return row[1:]


def test_a_study_without_a_load_has_no_curves() -> None:
    assert factory.report().curves == ()
    assert list(build_scaling_sections(factory.report())) == []


@pytest.mark.all_plugins
def test_a_screening_compares_no_configurations_and_has_no_curves() -> None:
    factors = "factors: {workload.direct: [false, true], workload.verify: [true, false]}"
    text = TEXT.replace("factors: {filesystem.type: [ext4, xfs, btrfs]}", factors)
    assert study(text).design is None
    screened = study(f"{text}design: full\n")
    assert screened.design is not None
    assert list(curves_of(screened, [], None)) == []


def test_levels_have_their_workloads() -> None:
    scaling = curves()
    assert (scaling.workload, scaling.option, scaling.figure.name) == (
        "readers",
        "jobs",
        "bandwidth",
    )
    assert [(level.load, level.text) for level in scaling.levels][-1] == (8, "8")
    assert scaling.levels[0].workload == "readers at jobs=1"


def test_a_point_has_its_value_and_what_its_step_brought() -> None:
    first, second, third, _ = curve(curves(), "ext4").points
    assert first.step is first.efficiency is None
    assert second.value == pytest.approx(190, rel=0.01)
    assert second.interval is not None
    assert second.interval.low < 190 < second.interval.high
    assert second.step == pytest.approx(0.9, rel=0.02)
    assert second.step_interval is not None
    assert second.step_interval.low < 0.9 < second.step_interval.high
    assert third.efficiency == pytest.approx(330 / 100 / 4, rel=0.01)
    assert third.efficiency_interval is not None
    assert third.efficiency_interval.low < 330 / 100 / 4 < third.efficiency_interval.high


def test_knees_and_crossings_name_their_loads() -> None:
    scaling = curves()
    assert curve(scaling, "ext4").knee == (4,)
    assert curve(scaling, "btrfs").holds_up_to == (2,)
    (met,) = scaling.crossings
    assert (met.overtaking, met.overtaken, met.below, met.above) == ("xfs", "ext4", 2, 4)
    assert met.interval is not None
    assert met.interval.low < met.load < met.interval.high


def test_scaling_sentences() -> None:
    scaling = curves()
    (overtakes,) = describe_crossings(scaling, "type")
    assert overtakes.startswith(
        "On readers, type=xfs overtakes type=ext4 between 2 and 4 jobs, at about 2."
    )
    assert saturation(report(), "ext4")[0] == "4"
    assert saturation(report(), "xfs")[0] == "8"
    assert saturation(report(), "btrfs")[0] == "2"
    assert overtakes in report().answer


def test_undecided_knees_are_reported() -> None:
    noisy = report(noise=0.1, curves=dict.fromkeys(CURVES, (100.0, 300.0, 310.0, 330.0)))
    assert saturation(noisy, "ext4")[0] == "2, 4 or 8"
    flat = report(noise=0.1, curves=FLAT)
    assert saturation(flat, "ext4") == ("1, 2, 4 or 8",) * 3


@pytest.mark.parametrize("configuration", CURVES)
def test_a_flat_curve_is_stable_over_all_loads(configuration: str) -> None:
    assert saturation(report(curves=FLAT), configuration) == ("1", "8", "1, 2, 4 or 8")


def test_before_enough_blocks_there_are_values_alone() -> None:
    scaling = curves(blocks=2)
    point = curve(scaling, "ext4").points[1]
    assert point.value == pytest.approx(190, rel=0.02)
    assert point.interval is point.step_interval is None
    assert scaling.crossings == ()
    assert len(curve(scaling, "ext4").knee) > 1


def test_without_any_trial_nothing_is_drawn() -> None:
    nothing = report(blocks=0)
    (own_curves,) = nothing.curves
    assert curve(own_curves, "ext4").points[0].value is None
    assert len(list(build_scaling_charts(own_curves, nothing))) == len(own_curves.published)


def test_a_curve_of_times_is_stable_up_to_a_level() -> None:
    rising = dict.fromkeys(CURVES, (10.0, 10.0, 20.0, 50.0))
    scaling = curves(TIMES, curves=rising)
    assert not scaling.figure.higher_is_better
    own = curve(scaling, "ext4")
    assert own.points[2].value == pytest.approx(20, rel=0.01)
    assert own.points[2].step == pytest.approx(1.0, rel=0.03)
    assert own.points[2].efficiency is None
    assert own.pays_up_to == (1,)
    assert own.knee == own.holds_up_to == (2,)


@pytest.mark.all_plugins
def test_published_curves_are_drawn() -> None:
    events, read_rate = curves(EVENTS).published
    assert (events.reference, events.figure, read_rate.figure) == ("R5", "events", "read_rate")
    assert [level.load for level in events.levels] == [20, 40, 60, 80]
    assert events.values["HDFS"] == (161103, 298243, 412836, 481841)
    met = {(c.overtaking, c.overtaken): c for c in events.crossings}
    hdfs = met["HDFS", "Lustre"]
    assert (hdfs.below, hdfs.above, hdfs.interval) == (60, 80, None)
    assert math.isclose(hdfs.load, 69.6, abs_tol=0.1)
    assert read_rate.crossings == ()
    whole = report(EVENTS)
    (section,) = build_scaling_sections(whole)
    assert section.folded[1].rows[1][:2] == ("40", "298243 (1.85)")
    _, *charts = build_scaling_charts(whole.curves[0], whole)
    assert len(charts) == 2
    assert "as published" in json.dumps(charts[0].spec)
    assert curves(EVENTS.replace("R5", "R1")).published == ()
    assert curves(EVENTS.replace("jobs: [1, 2, 4, 8]", "reads: [1, 2, 4, 8]")).published == ()


@pytest.mark.all_plugins
def test_published_curves_without_values_are_not_drawn() -> None:
    whole = report(EVENTS)
    (own_curves,) = whole.curves
    events, read_rate = own_curves.published
    unknown = {label: (None,) * len(events.levels) for label in events.values}
    empty = events.model_copy(update={"values": unknown, "crossings": ()})
    changed = own_curves.model_copy(update={"published": (empty, read_rate)})
    _, chart = build_scaling_charts(changed, whole)
    assert "read_rate" in chart.alternative


def test_loads_have_their_unit() -> None:
    text = TEXT.replace("jobs: [1, 2, 4, 8]", "record_size: [128KiB, 256KiB, 512KiB, 1MiB]")
    (said,) = describe_crossings(curves(text))
    assert "between record_size 256KiB and 512KiB, at about " in said
    assert "KiB [" in said


def test_a_crossing_of_estimates_says_so() -> None:
    whole = report()
    (own_curves,) = whole.curves
    guessed = own_curves.crossings[0].model_copy(update={"interval": None})
    changed = whole.model_copy(
        update={"curves": (own_curves.model_copy(update={"crossings": (guessed,)}),)}
    )
    (section,) = build_scaling_sections(changed)
    assert any(
        "verdicts confirm one side only: type=xfs overtakes type=ext4" in k for k in section.notes
    )
    crossing_table = next(t for t in section.tables if t.title == "crossings")
    assert crossing_table.rows[0][-1] == "estimates"
    assert describe_crossings(changed.curves[0]) == ()


def test_a_report_has_the_curves() -> None:
    page = html.render(report())
    assert "overtakes type=ext4 between 2 and 4 jobs" in page
    assert "change at each step of load" in page
    assert 'aria-labelledby="curves-1"' in page


def test_scaling_tables() -> None:
    (section,) = build_scaling_sections(report())
    values, efficiencies, how_far, crossed = section.tables
    assert values.heads == ("jobs", "ext4", "xfs", "btrfs")
    assert values.rows[3][2].startswith("42")
    assert efficiencies.title.startswith("scaling efficiency: growth since 1")
    assert [row[0] for row in efficiencies.rows] == ["2", "4", "8"]
    assert efficiencies.rows[1][1].startswith("82.")
    assert how_far.rows[0] == ("ext4", "4", "8", "4 or 8")
    assert crossed.rows[0][:3] == ("ext4", "xfs", "2 and 4 jobs")
    steps, *published = section.folded
    assert len(steps.rows) == 3 * 3
    assert steps.rows[0][:2] == ("ext4", "1 to 2")
    assert published == []


def test_the_chart_marks_knees_and_crossings() -> None:
    whole = report()
    own, *others = build_scaling_charts(whole.curves[0], whole)
    marks = [layer["mark"]["type"] for layer in own.spec["layer"]]
    assert marks == ["rect", "rule", "line", "rule", "point", "point"]
    data = json.dumps(own.spec)
    assert "xfs overtakes ext4" in data
    assert others == []


def test_json_has_them_as_the_schema_says() -> None:
    document = json.loads(json_.render(report()))
    assert_conforms(document, json.loads(json_.format_schema()))
    assert document["curves"][0]["curves"][0]["knee"] == [4.0]
