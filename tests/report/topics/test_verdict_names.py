"""Tests of the names of configurations in the texts of every format."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from rich.console import Console

from iostudy.report.formatting import find_single_factor, name_configuration
from iostudy.report.render import html, json_, markdown, terminal
from iostudy.report.values import Report
from iostudy.study.combinations import NamedConfiguration
from iostudy.study.model import Study
from tests.report.factory import build_report, factor, rows, study, study_row

READ_AHEAD = factor("block.read_ahead_kb", "0", "128", "1024")
EFFECTS = {("file-reads", "1024"): 29.0, ("file-reads", "128"): 0.3}


def report_of(experiment: Study, effects: Mapping[tuple[str, str], float]) -> Report:
    return build_report(experiment, study_row(experiment), rows(experiment, effects=effects))


def printed(report: Report) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(terminal.render(report))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_every_format_names_factor_and_level_and_large_changes_as_ratios() -> None:
    report = report_of(study(READ_AHEAD, workloads=["file-reads"]), EFFECTS)
    assert report.headline.startswith(
        "read_ahead_kb=1024 and read_ahead_kb=128 are better than read_ahead_kb=0; "
        "read_ahead_kb=1024, with the highest estimate, 30.0 x ["
    )
    sentence = report.workloads[0].answer
    assert "read_ahead_kb=1024 has 30.0 x [" in sentence
    assert sentence.split("]")[0].count("read_ahead_kb=") >= 2
    page = html.render(report).replace('<span class="whole">', "").replace("</span>", "")
    assert report.headline in page
    assert report.headline in printed(report)
    for text in (markdown.render(report), json.loads(json_.render(report))["headline"]):
        assert "read_ahead_kb=1024, with the highest estimate, 30.0 x" in text


def test_true_and_false_have_their_factor() -> None:
    effects = {("file-writes", "true"): -0.5}
    report = report_of(study(factor("workload.direct", "false", "true")), effects)
    assert "direct=true is worse than direct=false" in report.headline
    for text in (report.headline, *report.answer, *(step.text for step in report.next_steps)):
        assert "“" not in text


def test_several_factors_and_named_configurations_keep_their_labels() -> None:
    two = study(factor("workload.direct", "false", "true"), READ_AHEAD)
    assert find_single_factor(two) == ""
    named = replace(
        study(READ_AHEAD),
        chosen=(NamedConfiguration("old", {}), NamedConfiguration("new", {})),
    )
    assert find_single_factor(named) == ""


def test_a_factor_with_one_level_labels_nothing() -> None:
    of = study(READ_AHEAD, factor("block.scheduler", "none"))
    assert find_single_factor(of) == "read_ahead_kb"


@pytest.mark.parametrize(
    ("label", "factor", "text"),
    [
        ("8", "jobs", "jobs=8"),
        ("true", "direct", "direct=true"),
        ("true", "", "“true”"),
        ("our choice", "scheduler", "“scheduler=our choice”"),
        ("direct=true, size=1MiB", "", "“direct=true, size=1MiB”"),
    ],
)
def test_names(label: str, factor: str, text: str) -> None:
    assert name_configuration(label, factor) == text
