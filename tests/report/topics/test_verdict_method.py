"""Tests of the paragraph on the method."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.study.combinations import Factor
from iostudy.study.plan import FORMAT_PHASE
from tests.report.factory import build_report, factor, report, rows, study, study_row

SCHEDULER = factor("block.scheduler", "none", "bfq")


def varied(*levels: str) -> Factor:
    return replace(factor("filesystem.type", *levels), hard_to_change=True)


def method_text(*factors: Factor, made: int = 0) -> str:
    experiment = study(*factors)
    trials = rows(experiment)
    trials[:made] = [replace(row, phases={FORMAT_PHASE: 1.0}) for row in trials[:made]]
    return build_report(experiment, study_row(experiment), trials).method.text


def test_a_study_of_settings_alone_is_no_split_plot() -> None:
    assert "split plot" not in report().method.text


def test_number_of_new_file_systems_is_reported() -> None:
    text = method_text(varied("ext4", "xfs"), made=12)
    assert "Each file system is created again in every block; 12 times in all." in text


@pytest.mark.parametrize(
    ("factors", "within", "across"),
    [
        (
            (SCHEDULER, varied("ext4", "xfs")),
            "also run “scheduler=bfq, type=ext4”: the error of these comparisons is that of runs.",
            "All others are across two file systems: their error holds that of making them, too.",
        ),
        ((varied("ext4", "xfs"),), "", "All comparisons are across two file systems"),
        (
            (SCHEDULER, varied("ext4")),
            "On the file system of scheduler=none also run scheduler=bfq",
            "",
        ),
    ],
)
def test_error_of_each_comparison_is_reported(
    factors: tuple[Factor, ...], within: str, across: str
) -> None:
    text = method_text(*factors)
    assert within in text
    assert across in text
    assert ("On the file system of" in text) == bool(within)
    assert ("across two file systems" in text) == bool(across)


def test_weights_of_a_ranking_are_reported() -> None:
    assert (
        "(all workloads have equal weights), with a further risk of the same size"
        in report().method.text
    )
    experiment = study()
    experiment = replace(experiment, decide=replace(experiment.decide, weights={"file-reads": 2.5}))
    text = build_report(experiment, study_row(experiment), rows(experiment)).method.text
    assert "(workloads have the weights file-writes 1 and file-reads 2.5)" in text


def test_on_one_workload_a_ranking_takes_no_further_risk() -> None:
    experiment = study(workloads=["file-reads"])
    text = build_report(experiment, study_row(experiment), rows(experiment)).method.text
    assert "all pairs of configurations, at no additional risk" in text
