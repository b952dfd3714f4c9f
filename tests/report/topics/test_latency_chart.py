from __future__ import annotations

from iostudy.report.topics.measurements import build_latency_charts
from tests.report.factory import report
from tests.report.parted import OPERATIONS, parted_report
from tests.report.topics.test_verdict_chart import points
from tests.report.vega_lite import require_valid


def test_each_operation_has_a_chart_with_a_line_for_each_configuration():
    report = parted_report([])
    found = {own.spec["title"]: own for own in build_latency_charts(report.workloads[0], report)}
    assert tuple(found) == OPERATIONS
    for own in found.values():
        require_valid(own.spec)
    curve, marks = points(found["read"])
    labels = [configuration.label for configuration in report.configurations]
    assert list(dict.fromkeys(row["configuration"] for row in curve)) == labels
    assert [row["percentile"] for row in marks[:5]] == ["p50", "p95", "p99", "p99.9", "max"]


def test_a_curve_rises_to_the_longest_latency():
    report = parted_report([])
    drawn, *_ = build_latency_charts(report.workloads[0], report)
    curve = [row for row in points(drawn)[0] if row["configuration"] == "none"]
    own = report.workloads[0].latencies[0]
    assert [row["us"] for row in curve] == list(own.upper_us)
    shares = [row["slower"] for row in curve]
    assert shares == sorted(shares)
    assert shares[-1] == 2 * own.count


def test_percentiles_beyond_the_number_of_latencies_have_no_mark():
    report = parted_report([])
    few = [
        one.model_copy(update={"upper_us": (1.0, 2.0), "counts": (9, 1), "count": 10})
        for one in report.workloads[0].latencies[:1]
    ]
    workload = report.workloads[0].model_copy(update={"latencies": tuple(few)})
    (drawn,) = build_latency_charts(workload, report)
    assert [row["percentile"] for row in points(drawn)[1]] == ["p50", "p95", "max"]
    assert max(drawn.spec["layer"][0]["encoding"]["x"]["axis"]["values"]) == 10


def test_a_workload_without_latencies_has_no_chart():
    example = report()
    assert list(build_latency_charts(example.workloads[0], example)) == []
