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
from iostudy.report.values import Report
from tests.report.factory import report
from tests.report.parted import OPERATIONS, parted_report


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, list[Path]]:
    """A report of one workload, and the files of its charts."""
    example = report(workloads=["file-reads"])
    return example, list(write_charts(example, tmp_path_factory.mktemp("new") / "figures"))


def test_every_chart_is_written_as_svg_and_png(written: tuple[Report, list[Path]]) -> None:
    example, paths = written
    assert {path.name for path in paths} >= {
        "intervals-file-reads.svg",
        "intervals-file-reads.png",
        "run-order-file-reads.svg",
        "telemetry-file-reads-rmib-s-of-the-device.png",
    }
    assert len(paths) == 2 * len(list(name_charts(example)))
    for path in paths:
        start = path.read_bytes()[:8]
        assert start.startswith(b"<svg" if path.suffix == ".svg" else b"\x89PNG\r\n\x1a\n")


def test_a_print_is_dark_on_white_and_has_a_width(written: tuple[Report, list[Path]]) -> None:
    example, (svg, *_) = written
    drawn = dict(name_charts(example))["run-order-file-reads"]
    spec = make_print_spec(drawn.spec)
    look = json.dumps({name: own for name, own in spec.items() if name != "datasets"})
    assert "currentColor" not in look
    assert "containerSize" not in look
    assert "transparent" not in look
    assert spec["datasets"] == drawn.spec["datasets"]
    text = svg.read_text("utf-8")
    assert "NaN" not in text
    assert float(re.findall(r'width="(\d+)"', text)[0]) >= WIDTH_PIXELS


def test_each_operation_has_its_latencies() -> None:
    names = [name for name, _ in name_charts(parted_report([]))]
    assert {f"latency-file-reads-{operation}" for operation in OPERATIONS} <= set(names)


def test_charts_of_sections_are_there_each_under_its_own_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    example = report()
    _, chart = next(name_charts(example))
    section = Section("curves", "Curves", draw=lambda: (chart, chart))
    monkeypatch.setattr(registry, "build_summary_sections", lambda _: (section,))
    assert [name for name, _ in name_charts(example)][:2] == ["curves", "curves-2"]
