"""Tests of means and changes of secondary figures, from rows with known effects."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from iostudy.analysis.rule import Rule
from iostudy.results.paired_means import compare_means
from iostudy.workloads.native.latency import merge_buckets
from tests.report.factory import build_report, disturbed, factor, report, rows, study, study_row
from tests.report.parted import JOBS, NAME, cells, parted_report

RULE = Rule(margin=0.03, risk=0.05, min_blocks=5, max_blocks=20)


def test_other_figures_have_means_and_changes_and_no_verdict():
    example = report()
    write = example.workloads[0]
    assert write.figure.name not in [other.figure.name for other in write.others]
    (seconds,) = (other for other in write.others if other.figure.name == "exec_time")
    means = {mean.configuration: mean for mean in seconds.means}
    assert list(means) == ["none", "mq-deadline", "kyber", "bfq"]
    assert means["none"].change is None
    assert means["bfq"].change == pytest.approx(1 / 0.88 - 1, abs=0.02)
    assert means["bfq"].interval.low < 1 / 0.88 - 1 < means["bfq"].interval.high
    assert "verdict" not in type(means["bfq"]).model_fields


def test_figure_without_trials_is_unknown():
    (unmeasured,) = (
        o for o in report().workloads[0].others if o.figure.name == "write_latency_p99"
    )
    assert {mean.value for mean in unmeasured.means} == {None}


def test_a_mean_with_a_zero_in_it_is_arithmetic_and_has_no_change():
    assert compare_means({1: 1.0, 2: 2.0}, {1: 0.0, 2: 4.0}, RULE).mean == pytest.approx(2.0)
    assert compare_means({1: 1.0, 2: 2.0}, {1: 0.0, 2: 4.0}, RULE).change is None
    assert compare_means({1: 1.0}, {2: 1.0}, RULE).blocks == 0
    found = compare_means({1: 1.0, 2: 4.0, 3: 9.0}, {1: 2.0, 2: 8.0, 4: 1.0}, RULE)
    assert (found.blocks, found.mean, found.change) == (2, pytest.approx(4.0), pytest.approx(1.0))


def test_figure_that_is_nan_is_unknown():
    experiment = study()
    trials = rows(experiment)
    spoilt = replace(trials[0], figures={**trials[0].figures, "exec_time": math.nan})
    report = build_report(experiment, study_row(experiment), [spoilt, *trials[1:]])
    own = next(w for w in report.workloads if w.label == spoilt.workload)
    (seconds,) = (other for other in own.others if other.figure.name == "exec_time")
    means = {mean.configuration: mean for mean in seconds.means}
    assert means[spoilt.configuration].value is None


def test_latencies_are_those_of_all_counted_trials_together():
    experiment = study(factor("block.scheduler", "none", "bfq"), workloads=[NAME])
    slow, fast = merge_buckets([(100.0, 10)]), merge_buckets([(10.0, 990)])
    trials = [
        replace(row, latencies={"read": slow if row.block == 1 else fast})
        for row in rows(experiment, blocks=2)
    ]
    latencies = (
        build_report(experiment, study_row(experiment), disturbed(trials)).workloads[0].latencies
    )
    assert [one.configuration for one in latencies] == ["none", "bfq"]
    assert [(one.trials, one.count) for one in latencies] == [(2, 1000)] * 2
    assert latencies[0].percentiles_us["p99"] == pytest.approx(10.0, rel=0.05)
    assert latencies[0].percentiles_us["p99.9"] == pytest.approx(100.0, rel=0.05)
    assert latencies[0].percentiles_us["max"] == latencies[0].upper_us[-1]
    assert latencies[0].counts == (990, 10)


def test_an_operation_that_some_configuration_does_not_have_is_left_out_there():
    experiment = study(factor("block.scheduler", "none", "bfq"), workloads=[NAME])
    trials = [
        replace(row, latencies={"read": ((1.0, 1),), row.configuration: ((2.0, 1),), "empty": ()})
        for row in rows(experiment, blocks=2)
    ]
    latencies = build_report(experiment, study_row(experiment), trials).workloads[0].latencies
    assert [(one.operation, one.configuration) for one in latencies] == [
        ("read", "none"),
        ("read", "bfq"),
        ("none", "none"),
        ("bfq", "bfq"),
    ]


def test_parts_are_listed_with_their_changes():
    (table,) = parted_report(JOBS).workloads[0].parts
    assert table.configurations == ("none", "mq-deadline", "kyber", "bfq")
    assert [part.labels for part in table.parts] == JOBS
    assert table.parts[0].values[0] == pytest.approx(1000, rel=0.03)
    none, deadline, kyber, bfq = table.parts[2].changes
    assert none is None
    assert (deadline, kyber, bfq) == pytest.approx((0.02, 0.2, -0.2), abs=0.04)


def test_a_part_that_only_another_configuration_has_stays_empty():
    experiment = study(factor("block.scheduler", "none", "bfq"), workloads=[NAME])
    workload = parted_report([], own_study=experiment).workloads[0]
    assert workload.parts == ()
    assert workload.latencies


def test_workload_without_parts_has_no_tables():
    workload = report().workloads[0]
    assert workload.latencies == ()
    assert workload.parts == ()


def test_many_parts_appear_once_per_configuration():
    report = parted_report(cells([f"op{n}" for n in range(4)]))
    assert len(report.model_dump_json()) < 250_000
