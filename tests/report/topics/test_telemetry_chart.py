"""Charts of telemetry by configuration."""

from __future__ import annotations

from iostudy.report.topics.telemetry import build_telemetry_charts
from tests.report.factory import build_report, renamed, report, rows, study, study_row


def test_telemetry_has_a_chart_for_each_meter_that_moved() -> None:
    made = report()
    write, read = (tuple(build_telemetry_charts(workload, made)) for workload in made.workloads)
    assert "wMiB/s of the device" in [drawn.spec["title"] for drawn in write]
    assert "r_await, ms of the device" in [drawn.spec["title"] for drawn in read]
    assert "r_await, ms of the device" not in [drawn.spec["title"] for drawn in write]


def test_telemetry_charts_follow_a_disk_that_was_renamed() -> None:
    experiment = study()
    made = build_report(experiment, study_row(experiment), renamed(rows(experiment)))
    counted = [t for t in made.trials if t.workload == "file-writes"]
    chart, *_ = build_telemetry_charts(made.workloads[0], made)
    (shown,) = chart.spec["datasets"].values()
    assert len(shown) == len(counted)
