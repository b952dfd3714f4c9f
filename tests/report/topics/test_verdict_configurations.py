"""Tests of the requested and actual values of each configuration."""

from __future__ import annotations

from dataclasses import replace

from iostudy.report.render.html import render as as_html
from iostudy.report.render.markdown import render as as_markdown
from iostudy.report.topics.configurations import build_configurations, list_levels
from tests.report.factory import build_report, factor, rows, study, study_row


def test_each_level_is_listed_with_the_value_read_back() -> None:
    experiment = study(
        factor("block.nr_requests", "as-found", "64"), factor("workload.direct", "true")
    )
    found = [
        {"block.nr_requests@sda": "256", "block.nr_requests@sdb": "256"},
        {"block.nr_requests@sda": "128", "block.nr_requests@sdb": "256"},
        {},
    ]
    label = experiment.baseline.label
    of_baseline = (row for row in rows(experiment) if row.configuration == label)
    trials = [replace(row, settings=each) for row, each in zip(of_baseline, found, strict=False)]
    baseline, other = build_configurations(experiment, trials)
    assert tuple(list_levels(baseline)) == (
        ("block.nr_requests", "as-found", "256 or 128 (sda); 256 (sdb)"),
        ("workload.direct", "true", ""),
    )
    assert next(list_levels(other)) == ("block.nr_requests", "64", "")


def test_level_without_a_place_has_no_device() -> None:
    experiment = study(factor("sysctl.vm.swappiness", "as-found", "10"))
    trial = replace(
        rows(experiment)[0], configuration="10", settings={"sysctl.vm.swappiness": "10"}
    )
    changed = list(build_configurations(experiment, [trial]))[1]
    assert tuple(list_levels(changed)) == (("sysctl.vm.swappiness", "10", "10"),)


def test_configurations_are_in_every_report() -> None:
    experiment = study()
    trials = [replace(row, settings={"block.scheduler@sdz": "kyber"}) for row in rows(experiment)]
    report = build_report(experiment, study_row(experiment), trials)
    for text in (as_html(report), as_markdown(report)):
        assert "kyber (sdz)" in text
