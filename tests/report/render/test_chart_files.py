from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from iostudy.report.render.chart_files import (
    WIDTH_PIXELS,
    make_print_spec,
    name_charts,
    write_charts,
)
from iostudy.report.section import Section
from iostudy.report.topics import registry
from tests.report.factory import report, two_factors
from tests.report.parted import OPERATIONS, parted_report


def test_every_chart_is_written_as_svg_and_png(tmp_path: Path) -> None:
    example = report()
    paths = write_charts(example, tmp_path / "new" / "figures")
    assert {path.name for path in paths} >= {
        "intervals-dfsio-write.svg",
        "intervals-dfsio-write.png",
        "run-order-dfsio-read.svg",
        "telemetry-dfsio-read-read-mib-s.png",
    }
    assert len(paths) == 2 * len(list(name_charts(example)))
    for path in paths:
        start = path.read_bytes()[:8]
        assert start.startswith(b"<svg" if path.suffix == ".svg" else b"\x89PNG\r\n\x1a\n")


def test_a_print_is_dark_on_white_and_has_a_width(tmp_path: Path) -> None:
    report = two_factors()
    drawn = dict(name_charts(report))["run-order-dfsio-write"]
    spec = make_print_spec(drawn.spec)
    look = json.dumps({name: own for name, own in spec.items() if name != "datasets"})
    assert "currentColor" not in look
    assert "containerSize" not in look
    assert "transparent" not in look
    assert spec["datasets"] == drawn.spec["datasets"]
    (svg, *_) = write_charts(report, tmp_path)
    text = svg.read_text("utf-8")
    assert "NaN" not in text
    assert float(re.findall(r'width="(\d+)"', text)[0]) >= WIDTH_PIXELS


def test_each_operation_has_its_latencies() -> None:
    names = [name for name, _ in name_charts(parted_report([]))]
    assert {f"latency-dfsio-read-{operation}" for operation in OPERATIONS} <= set(names)


def test_charts_of_sections_are_there_each_under_its_own_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    example = report()
    _, chart = next(name_charts(example))
    section = Section("curves", "Curves", charts=(chart, chart))
    monkeypatch.setattr(registry, "build_summary_sections", lambda _: (section,))
    assert [name for name, _ in name_charts(example)][:2] == ["curves", "curves-2"]
