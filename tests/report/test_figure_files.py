from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from iostudy.report import figure_files, sections
from iostudy.report.section import Section
from tests.report.factory import report, two_factors
from tests.report.parted import OPERATIONS, parted_report


def test_every_chart_is_there_twice_under_a_plain_name(tmp_path: Path) -> None:
    told = report()
    paths = figure_files.write(told, tmp_path / "new" / "figures")
    assert {path.name for path in paths} >= {
        "intervals-dfsio-write.svg",
        "intervals-dfsio-write.png",
        "run-order-dfsio-read.svg",
        "telemetry-dfsio-read-read-mib-s.png",
    }
    assert len(paths) == 2 * len(list(figure_files.named(told)))
    for path in paths:
        start = path.read_bytes()[:8]
        assert start.startswith(b"<svg" if path.suffix == ".svg" else b"\x89PNG\r\n\x1a\n")


def test_a_print_is_dark_on_white_and_has_a_width(tmp_path: Path) -> None:
    told = two_factors()
    drawn = dict(figure_files.named(told))["run-order-dfsio-write"]
    spec = figure_files.in_print(drawn.spec)
    look = json.dumps({name: own for name, own in spec.items() if name != "datasets"})
    assert "currentColor" not in look
    assert "containerSize" not in look
    assert "transparent" not in look
    assert spec["datasets"] == drawn.spec["datasets"]
    (svg, *_) = figure_files.write(told, tmp_path)
    text = svg.read_text("utf-8")
    assert "NaN" not in text
    assert float(re.findall(r'width="(\d+)"', text)[0]) >= figure_files.WIDTH_PIXELS


def test_each_operation_has_its_latencies() -> None:
    names = [name for name, _ in figure_files.named(parted_report([]))]
    assert {f"latency-dfsio-read-{operation}" for operation in OPERATIONS} <= set(names)


def test_charts_of_sections_are_there_each_under_its_own_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = report()
    _, chart = next(figure_files.named(told))
    section = Section("curves", "Curves", drawn=(chart, chart))
    monkeypatch.setattr(sections, "beside", lambda _: (section,))
    assert [name for name, _ in figure_files.named(told)][:2] == ["curves", "curves-2"]
