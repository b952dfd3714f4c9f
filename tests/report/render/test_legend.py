"""Tests of legends as text: entries, and charts without drawn legends."""

from __future__ import annotations

import json
from typing import Any

from iostudy.report.drawing import COLOURS
from iostudy.report.render.html import read_legend, remove_legends
from iostudy.report.section import Chart
from iostudy.report.topics.trials import build_run_order_chart
from iostudy.report.values import Report
from tests.report.factory import report, two_factors


def run_order(made: Report) -> Chart:
    drawn = build_run_order_chart(made.workloads[0], made)
    assert drawn is not None
    return drawn


def legends(spec: dict[str, Any]) -> list[Any]:
    encodings = [encoding for layer in spec["layer"] for encoding in layer["encoding"].values()]
    return [each["legend"] for each in encodings if "legend" in each]


def test_every_configuration_has_an_entry_with_its_colour_and_glyph() -> None:
    entries = read_legend(run_order(two_factors()).spec)
    assert [e.label for e in entries] == [c.label for c in two_factors().configurations]
    assert [e.colour for e in entries] == list(COLOURS[:4])
    assert [e.glyph for e in entries] == ["●", "■", "▲", "◆"]


def test_legends_are_removed_and_the_original_is_kept() -> None:
    spec = run_order(report()).spec
    before = json.dumps(spec)
    assert set(legends(remove_legends(spec))) == {None}
    assert json.dumps(spec) == before
    assert remove_legends(spec)["datasets"] is spec["datasets"]
