from __future__ import annotations

import json
from typing import Any

import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.report.drawing import COLOURS, VERDICT_MARKS, encode_labels
from iostudy.report.section import Chart
from iostudy.report.topics.telemetry import build_telemetry_charts
from iostudy.report.topics.trials import build_run_order_chart
from iostudy.report.topics.verdicts import build_interval_chart
from iostudy.report.values import Report
from tests.report.factory import (
    build_report,
    disturbed,
    outlying,
    report,
    rows,
    span,
    study,
    study_row,
    two_factors,
)
from tests.report.vega_lite import require_valid

PAGES = ("#ffffff", "#14171c")


def points(drawn: Chart) -> list[list[dict[str, Any]]]:
    """The rows of every layer's data."""
    return [drawn.spec["datasets"][layer["data"]["name"]] for layer in drawn.spec["layer"]]


def example_report() -> Report:
    experiment = study()
    return build_report(experiment, study_row(experiment), disturbed(outlying(rows(experiment))))


def test_the_interval_plot_shows_every_comparison_on_the_axis() -> None:
    made = report()
    drawn = build_interval_chart(made.workloads[0], made)
    assert drawn is not None
    rows_shown = points(drawn)[-1]
    assert [row["configuration"] for row in rows_shown] == ["mq-deadline", "kyber", "bfq"]
    assert rows_shown[-1]["change_text"].startswith("-1")
    (zone,) = points(drawn)[0]
    assert 0 < rows_shown[-1]["low"] < rows_shown[-1]["change"] < rows_shown[-1]["high"]
    assert rows_shown[-1]["high"] < zone["low"] < zone["high"] < rows_shown[1]["change"] < 100


def test_the_shaded_zone_is_the_margin_as_a_ratio() -> None:
    made = report()
    drawn = build_interval_chart(made.workloads[0], made)
    assert drawn is not None
    ((zone,), (zero, *_)) = points(drawn)[0], drawn.spec["layer"][1:]
    middle = zero["encoding"]["x"]["datum"]
    assert zone["high"] - middle == pytest.approx(middle - zone["low"], abs=0.02)
    ticks = json.loads(drawn.spec["layer"][2]["encoding"]["x"]["axis"]["labelExpr"].split("[")[0])
    assert ticks[f"{middle:g}"] == "0"


def test_the_interval_plot_has_the_colours_and_shapes_of_the_verdicts() -> None:
    made = report()
    drawn = build_interval_chart(made.workloads[0], made)
    assert drawn is not None
    encoding = drawn.spec["layer"][-1]["encoding"]
    for place, channel in enumerate(("color", "shape")):
        scale = encoding[channel]["scale"]
        drawn_as = dict(zip(scale["domain"], scale["range"], strict=True))
        assert drawn_as == {own.value: marks[place] for own, marks in VERDICT_MARKS.items()}


def test_there_is_no_interval_plot_before_there_is_an_interval() -> None:
    for blocks in (0, 1):
        made = report(blocks=blocks)
        assert build_interval_chart(made.workloads[0], made) is None


def test_the_run_order_plot_shows_every_trial_of_its_workload_once_as_a_point() -> None:
    made = example_report()
    for workload in made.workloads:
        drawn = build_run_order_chart(workload, made)
        assert drawn is not None
        shown = {row["number"] for layer in points(drawn) for row in layer}
        assert shown == {t.number for t in made.trials if t.workload == workload.label}


def test_uninformative_interval_is_clipped() -> None:
    made = report()
    workload = made.workloads[0]
    first, wide, *others = workload.results
    wide = wide.model_copy(update={"change": 0.5, "interval": span(-0.99, 1e6)})
    workload = workload.model_copy(update={"results": (first, wide, *others)})
    drawn = build_interval_chart(workload, made)
    assert drawn is not None
    row = next(r for r in points(drawn)[-1] if r["configuration"] == wide.configuration)
    assert (row["low_cut"], row["high_cut"], row["change"]) == (True, True, None)
    assert (row["low"], row["high"]) == (0, 100)
    arrows = {layer["mark"].get("shape") for layer in drawn.spec["layer"]}
    assert {"triangle-left", "triangle-right"} <= arrows


def test_levels_of_a_long_label_have_a_line_each() -> None:
    made = two_factors()
    drawn = build_interval_chart(made.workloads[0], made)
    assert drawn is not None
    axis = drawn.spec["layer"][-1]["encoding"]["y"]["axis"]
    assert axis["labelExpr"] == "split(datum.label, ', ')"
    assert axis["labelOffset"] == -7


def test_there_is_no_run_order_plot_without_a_figure() -> None:
    made = report(blocks=0)
    assert build_run_order_chart(made.workloads[0], made) is None


def test_every_chart_is_one_of_vega_lite() -> None:
    made = example_report()
    workload, *_ = made.workloads
    charts = [build_interval_chart(workload, made), build_run_order_chart(workload, made)]
    for drawn in (*charts, *build_telemetry_charts(workload, made)):
        assert drawn is not None
        require_valid(drawn.spec)


def test_charts_take_the_width_they_are_given() -> None:
    made = example_report()
    for workload in made.workloads:
        charts = [build_interval_chart(workload, made), build_run_order_chart(workload, made)]
        for drawn in (*charts, *build_telemetry_charts(workload, made)):
            assert drawn is not None
            assert drawn.spec["width"] == "container"


def test_every_verdict_has_a_shape_of_its_own_and_final_ones_a_colour() -> None:
    marks = {verdict: VERDICT_MARKS[verdict] for verdict in Verdict}
    assert len({shape for _, shape in marks.values()}) == len(marks)
    final = [colour for verdict, (colour, _) in marks.items() if verdict.is_final]
    assert len(set(final)) == len(final)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("colour", COLOURS)
def test_colours_stand_out_on_light_and_dark_pages(colour: str, page: str) -> None:
    lighter, darker = sorted((luminance(colour), luminance(page)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 3


def test_more_configurations_than_shapes_begin_again() -> None:
    colour, _ = encode_labels(["a", "b", "c"], ("red", "blue"))
    assert colour["scale"]["range"] == ["red", "blue", "red"]


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
