from __future__ import annotations

from iostudy.report.topics.measurements import build_measurement_sections
from tests.report.factory import report
from tests.report.parted import JOBS, cells, parted_report


def sections_of(report):
    return build_measurement_sections(report.workloads[0], report)


def sections(labels=None):
    return {s.title: s for s in sections_of(parted_report(labels))}


def test_sections_state_that_verdicts_do_not_use_them():
    by_title = sections(JOBS)
    assert list(by_title) == ["Latency", "rate of each part, KiB/s", "Other figures"]
    assert all("ot used for verdicts" in section.notes[0] for section in by_title.values())


def test_latencies_have_a_row_for_each_operation_and_configuration():
    (table,) = sections()["Latency"].tables
    assert table.heads == (
        *("operation", "configuration", "p50", "p95", "p99", "p99.9", "max", "measured"),
    )
    assert len(table.rows) == 12
    assert table.rows[0][-1] == str(6 * 400)


def test_other_figures_have_their_units_and_changes():
    (table,) = {s.title: s for s in sections_of(report())}["Other figures"].folded
    rows = {row[:2]: row[2:] for row in table.rows}
    assert rows["exec_time", "none"][1] == ""
    assert rows["exec_time", "none"][0].endswith(" s")
    assert rows["bytes", "bfq"] == ("512 MiB", "+0.0 % [+0.0, +0.0]")
    assert not any(name == "latency_p99" for name, _ in rows)


def test_jobs_have_a_row_each_and_a_matrix_a_table_for_each_configuration():
    (table,) = sections(JOBS)["rate of each part, KiB/s"].tables
    assert table.heads == ("job", "none", "mq-deadline", "kyber", "bfq")
    assert "(+" in table.rows[0][3]
    found = sections(cells(["write", "read"]))["rate of each part, KiB/s"].folded
    assert [t.title for t in found][:2] == ["write, none", "write, mq-deadline"]
    assert len(found) == 8


def test_parts_may_differ_in_their_labels():
    (table,) = sections([{"job": "1"}, {"disk": "a"}])["rate of each part, KiB/s"].tables
    assert table.heads[:2] == ("job", "disk")
    assert [row[:2] for row in table.rows] == [("1", ""), ("", "a")]


def test_a_study_without_trials_has_no_tables():
    assert list(sections_of(report(blocks=0))) == []
