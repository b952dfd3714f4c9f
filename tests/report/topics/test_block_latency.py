"""Tests of latencies of block requests in the report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from iostudy.ledger.rows import TrialRow
from iostudy.report.render import json_, markdown
from iostudy.report.values import Report
from iostudy.study.sections import TelemetrySection
from iostudy.telemetry.summary import BlockRequests, Requests
from tests.json_schema import assert_conforms
from tests.report.factory import (
    build_report,
    disturbed,
    factor,
    renamed,
    report,
    rows,
    study,
    study_row,
)

STUDY = replace(
    study(factor("block.scheduler", "none", "bfq"), workloads=("file-writes",)),
    telemetry=TelemetrySection(block_latency=True),
)
FAST = Requests(90, 10.0, 15.9, ((11.3137, 60), (16.0, 30)), ((4096, 90),))
SLOW = Requests(10, 1000.0, 1500.0, ((1024.0, 9), (1579.22, 1)), ((4096, 10),))
FLUSH = Requests(1, 300.0, 300.0, ((304.437, 1),), ((0, 1),))


def traced(
    row: TrialRow, own: Requests = FAST, *, lost: int = 0, also: Mapping[str, Requests] = {}
) -> TrialRow:
    """The trial with requests of the disk under test and of the one below it."""
    if row.summary is None:
        return row
    devices = {row.device: {"write": own, **also}, "sda": {"write": own}}
    requests = BlockRequests(
        devices, events=2 * own.count, lost=lost, unmatched=1, reader_cpu_seconds=0.1
    )
    return replace(row, summary=replace(row.summary, requests=requests))


def report_of(trials: Sequence[TrialRow]) -> Report:
    return build_report(STUDY, study_row(STUDY), trials)


def test_requests_of_all_trials_are_pooled() -> None:
    first, second = rows(STUDY, blocks=2)[:2]
    first = replace(first, configuration="none")
    second = replace(second, configuration="none", block=2)
    (report,) = report_of(
        [traced(first), traced(second, SLOW, also={"flush": FLUSH})]
    ).block_requests
    write, flush, below = report.requests
    assert (report.configuration, report.trials, report.events) == ("none", 2, 200)
    assert (report.lost_events, report.unmatched_events) == (0, 2)
    assert (write.device, write.operation, write.trials) == ("loop0", "write", 2)
    assert write.count == 100
    assert write.mean_us == pytest.approx((90 * 10.0 + 10 * 1000.0) / 100)
    assert write.percentiles_us == {
        "p50": 11.3137,
        "p95": 1024.0,
        "p99": 1024.0,
        "p99.9": 1500.0,
        "max": 1500.0,
    }
    assert write.upper_us == (11.3137, 16.0, 1024.0, 1579.22)
    assert write.counts == (60, 30, 9, 1)
    assert (flush.operation, flush.trials, flush.count) == ("flush", 1, 1)
    assert (below.device, below.count) == ("sda", 100)


def test_only_counted_trials_are_pooled() -> None:
    trials = [traced(row) for row in disturbed(rows(STUDY, blocks=6))]
    assert [(own.configuration, own.trials) for own in report_of(trials).block_requests] == [
        ("none", 6),
        ("bfq", 6),
    ]


def test_a_disk_that_was_renamed_is_one() -> None:
    report = report_of([traced(row) for row in renamed(rows(STUDY, blocks=6))])
    assert {each.device for own in report.block_requests for each in own.requests} == {
        "loop0 or loop1" if report.device.startswith("loop0") else "loop1 or loop0",
        "sda",
    }


def test_a_report_has_a_row_for_each_configuration_and_says_what_it_cost() -> None:
    report = report_of([traced(row) for row in rows(STUDY, blocks=6)])
    text = markdown.render(report)
    assert "### Block request latency" in text
    assert "| loop0 | write | none | 10.0 | 11.3 | 15.9 | 15.9 | 15.9 | 15.9 | 540 |" in text
    assert "with traced trials only" in text
    assert "in a full buffer" not in text


def test_lost_events_are_reported_with_their_share() -> None:
    text = markdown.render(report_of([traced(row, lost=20) for row in rows(STUDY, blocks=6)]))
    assert "none: 120 events (10 %) were lost in a full buffer" in text


def test_missing_requests_are_reported() -> None:
    nothing = BlockRequests({}, 0, 0, 0, 0.0)
    trials = [
        replace(row, summary=replace(row.summary, requests=nothing))
        for row in rows(STUDY, blocks=6)
        if row.summary is not None
    ]
    assert "No request was traced on the devices of the target." in markdown.render(
        report_of(trials)
    )


def test_without_tracing_there_is_no_section() -> None:
    assert report().block_requests == ()
    assert "Block request latency" not in markdown.render(report())


def test_the_document_has_the_form_of_the_schema() -> None:
    document = json.loads(
        json_.render(report_of([traced(row, SLOW) for row in rows(STUDY, blocks=6)]))
    )
    assert_conforms(document, json_.build_schema())
    assert document["block_requests"][0]["requests"][0]["count"] == 60
