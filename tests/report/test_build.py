from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.ledger.rows import TrialStatus
from iostudy.report.base import State
from iostudy.report.values import Report
from iostudy.telemetry.summary import TelemetrySummary
from tests.report.factory import (
    build_report,
    disturbed,
    factor,
    outlying,
    renamed,
    report,
    rows,
    study,
    study_row,
)


def result_of(report: Report, workload: str, configuration: str):  # type: ignore[no-untyped-def]
    (own,) = (w for w in report.workloads if w.label == workload)
    return next(r for r in own.results if r.configuration == configuration)


def test_known_effects_are_found_and_reported() -> None:
    example = report()
    bfq = result_of(example, "file-writes", "bfq")
    assert bfq.verdict is Verdict.WORSE
    assert bfq.interval.low < -0.12 < bfq.interval.high
    assert result_of(example, "file-writes", "kyber").verdict is Verdict.BETTER
    assert result_of(example, "file-reads", "bfq").verdict is Verdict.EQUIVALENT


def test_the_change_is_that_of_a_typical_pair_and_near_the_ratio_of_the_figures() -> None:
    example = report()
    own, base = (result_of(example, "file-writes", name) for name in ("bfq", "none"))
    assert own.interval.low < own.value / base.value - 1 < own.interval.high
    assert own.value / base.value - 1 == pytest.approx(own.change, abs=0.005)


def test_the_baseline_comes_first_and_has_no_verdict() -> None:
    for workload in report().workloads:
        assert [r.baseline for r in workload.results] == [True, False, False, False]
        assert workload.results[0].verdict is None


def test_the_order_in_which_rows_are_read_changes_nothing() -> None:
    experiment = study()
    trials = rows(experiment)
    shuffled = random.Random(3).sample(trials, len(trials))
    assert build_report(experiment, study_row(experiment), shuffled) == build_report(
        experiment, study_row(experiment), trials
    )


def test_study_without_trials_has_a_report() -> None:
    example = report(blocks=0)
    assert example.state is State.STOPPED
    assert example.trials == ()
    assert result_of(example, "file-reads", "bfq").interval is None
    assert example.answer[0].endswith("no block has finished.")


def test_after_one_block_there_is_a_change_and_no_interval() -> None:
    bfq = result_of(report(blocks=1), "file-writes", "bfq")
    assert bfq.change is not None
    assert bfq.interval is None


def test_a_study_is_complete_when_every_comparison_has_ended() -> None:
    assert report(blocks=8, noise=0.004).state is State.COMPLETE
    assert report(blocks=8, noise=0.08).state is State.STOPPED
    assert report(blocks=20, noise=0.08).state is State.COMPLETE
    assert "--resume" in report(blocks=8, noise=0.08).answer[-1]


def test_a_study_that_may_run_is_not_said_to_have_stopped() -> None:
    plan = study(factor("block.scheduler", "none", "bfq"), workloads=["file-writes"])
    trials = rows(plan, blocks=3, noise=0.2, effects={})
    last = replace(trials[-1], status=TrialStatus.STARTED, counts=False, figures=None)
    found = build_report(plan, study_row(plan), [*trials[:-1], last])
    assert any(text.startswith("The study runs, or was killed: ") for text in found.answer)


def test_blocks_in_which_both_failed_are_used_up_and_their_runs_are_failed() -> None:
    plan = study(factor("block.scheduler", "none", "bfq", "kyber"), workloads=["file-writes"])
    trials = [
        replace(row, status=TrialStatus.FAILED, figures={})
        if row.block in (3, 9) and row.configuration != "kyber"
        else row
        for row in rows(plan, blocks=20, noise=0.2, effects={})
    ]
    found = build_report(plan, study_row(plan), trials)
    assert found.state is State.COMPLETE
    bfq = result_of(found, "file-writes", "bfq")
    assert not bfq.verdict.is_final
    assert (bfq.blocks, bfq.lost_blocks, bfq.slow.runs) == (18, 2, 20)
    assert bfq.slow.slow >= 2


def test_single_configuration_has_a_mean() -> None:
    experiment = study(factor("block.scheduler", "bfq"), workloads=["file-reads"])
    report = build_report(experiment, study_row(experiment), rows(experiment, blocks=20))
    assert report.state is State.COMPLETE
    (only,) = report.workloads[0].results
    values = [trial.value for trial in report.trials if trial.value is not None]
    assert only.value == pytest.approx(math.prod(values) ** (1 / len(values)))


def test_trials_that_do_not_count_are_kept_with_their_reasons() -> None:
    experiment = study()
    example = build_report(experiment, study_row(experiment), disturbed(rows(experiment)))
    invalid, interrupted = example.trials[-2:]
    assert (invalid.status, interrupted.status) == (TrialStatus.INVALID, TrialStatus.INTERRUPTED)
    assert invalid.reason.startswith("foreign I/O")
    assert interrupted.value is None
    assert example.workloads == report().workloads
    assert "all but 2 count" in example.method.text


def test_an_outlying_trial_is_flagged_and_still_counts() -> None:
    experiment = study()
    report = build_report(experiment, study_row(experiment), outlying(rows(experiment), index=3))
    assert report.trials[3].slow
    assert report.trials[3].counts


def test_telemetry_means_use_counted_trials_only() -> None:
    experiment = study()
    trials = rows(experiment)
    spoilt = replace(
        trials[0],
        id=len(trials) + 1,
        counts=False,
        summary=TelemetrySummary(1.0, {}, {"%user": 1e6}),
    )
    example = build_report(experiment, study_row(experiment), [*trials, spoilt])
    assert example.telemetry == report().telemetry
    assert example.telemetry[0].machine["%user"] == pytest.approx(1.5)
    assert example.device == "loop0"


def test_a_disk_that_was_renamed_is_one_device_under_test() -> None:
    experiment = study()
    example = build_report(experiment, study_row(experiment), renamed(rows(experiment)))
    assert example.device == "loop1 or loop0"
    assert {trial.device for trial in example.trials} == {"loop1", "loop0"}
    for own, as_before in zip(example.telemetry, report().telemetry, strict=True):
        assert own.devices == {
            "loop1 or loop0": as_before.devices["loop0"],
            "sda": as_before.devices["sda"],
        }


def test_nan_is_reported_as_unknown() -> None:
    experiment = study()
    trials = rows(experiment)
    spoilt = replace(
        trials[0], summary=TelemetrySummary(1.0, {}, {"%user": math.nan, "%idle": math.inf})
    )
    report = build_report(experiment, study_row(experiment), [spoilt, *trials[1:]])
    assert report.trials[0].machine == {"%user": None, "%idle": None}


def test_options_have_the_notation_of_study_files() -> None:
    shown = {
        "files": "2",
        "size": "256MiB",
        "record_size": "1MiB",
        "direct": "false",
        "compressible": "0%",
        "sync": "none",
    }
    assert shown.items() <= report().workloads[0].options.items()


def test_reproducing_a_study_names_the_seed_that_it_drew() -> None:
    experiment = replace(study(), seed=None)
    report = build_report(experiment, study_row(experiment), [])
    assert any("--seed 7`" in step for step in report.reproduce)


def test_a_bound_is_compared_and_marked_and_in_no_ranking() -> None:
    best = {("file-writes", "mq-deadline"): 0.5, ("file-reads", "mq-deadline"): 0.5}
    experiment = replace(study(), bounds=("mq-deadline",))
    report = build_report(
        experiment, study_row(experiment), rows(experiment, blocks=20, effects=best)
    )
    bound = report.workloads[0].results[1]
    assert (bound.configuration, bound.bound) == ("mq-deadline", True)
    assert bound.verdict is Verdict.BETTER
    assert report.ranking is not None
    assert [own.configuration for own in report.ranking.ranked].count("mq-deadline") == 0
    assert "mq-deadline" not in report.headline + "".join(step.text for step in report.next_steps)
    assert "mq-deadline (a bound) gains" in "".join(report.answer)
    assert report.notes[0].endswith("neither ranked nor recommended): mq-deadline")
    assert "pairs of configurations without bounds" in report.method.text


def test_notes_of_the_study_come_first_and_each_remark_once() -> None:
    experiment = replace(study(), notes=("not root: something else varies",))
    report = build_report(experiment, study_row(experiment), rows(experiment))
    assert report.notes == (
        "not root: something else varies",
        "page cache dropped before the trial",
    )
