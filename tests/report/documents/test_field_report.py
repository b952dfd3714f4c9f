"""Answers to the items of a field report: what each asks for, and not the headline alone."""

from __future__ import annotations

from typing import Any

from iostudy.report.documents.field_report import RepeatedItem
from iostudy.report.values import Report
from iostudy.study.reference import PublishedItem
from tests.report.factory import build_report, factor, rows, study, study_row

STUDY = study(factor("block.scheduler", "none", "bfq", "kyber"), workloads=("file-writes",))


def report() -> Report:
    trials = rows(STUDY, effects={("file-writes", "bfq"): -0.5}, blocks=20)
    return build_report(STUDY, study_row(STUDY), trials)


def answer(**fields: Any) -> str:
    return RepeatedItem(PublishedItem(item="?", **fields), "iostudy run x", "", report()).answer


def test_an_item_is_answered_by_the_headline_if_it_asks_for_nothing_else() -> None:
    assert answer() == answer(section="volume")
    assert answer().startswith(report().headline)


def test_an_item_is_answered_by_the_verdicts_that_it_asks_for() -> None:
    text = answer(configurations=("bfq",))
    assert text.startswith("bandwidth of file-writes against none: bfq -")
    assert text.endswith(", worse by at least the margin.")
    assert "kyber" not in text
    assert answer(configurations=("bfq",), workload="other") == answer()


def test_a_study_that_failed_says_why() -> None:
    failed = RepeatedItem(PublishedItem(item="?"), "x", "the drive was late", report(), failed=True)
    assert failed.answer == f"{answer()} It did not end as planned: the drive was late."


def test_what_has_not_run_is_not_called_impossible_on_this_machine() -> None:
    late = RepeatedItem(PublishedItem(item="?"), "iostudy run x", "no time was left")
    assert late.answer == "not run: no time was left"
    missing = RepeatedItem(PublishedItem(item="?"), "", "iostudy makes no DRBD")
    assert missing.answer == "not on this machine, because iostudy makes no DRBD"


def test_an_item_is_answered_by_the_figures_that_it_asks_for() -> None:
    assert answer(figures=("exec_time",)).startswith("exec_time ")
    assert answer(figures=("exec_time",)).endswith(" s under none, file-writes.")


def test_an_item_is_answered_by_what_limited_each_configuration() -> None:
    text = answer(section="limits")
    assert text.startswith("file-writes, none: ")
    assert "file-writes, kyber: " in text
