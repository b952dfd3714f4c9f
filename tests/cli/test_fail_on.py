"""Verdicts that ``--fail-on`` of ``run`` and ``try`` gets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.cli import study_runner
from iostudy.results.comparisons import compare_configurations
from tests.report.factory import factor, rows, study


@pytest.mark.parametrize(
    ("verdict", "found"),
    [
        (Verdict.WORSE, "worse"),
        (Verdict.NOT_WORSE, "inconclusive"),
        (Verdict.NOT_BETTER, "inconclusive"),
        (Verdict.EQUIVALENT, "equivalent"),
    ],
)
def test_one_side_is_no_decision(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verdict: Verdict, found: str
) -> None:
    monkeypatch.setattr(study_runner, "print_report", lambda folder, form: None)
    plan = study(factor("block.scheduler", "none", "bfq"), workloads=["file-writes"])
    (result,) = compare_configurations(plan, rows(plan))
    given = replace(result, comparison=replace(result.comparison, verdict=verdict))
    assert study_runner.print_existing_report([given], tmp_path) == {found}
