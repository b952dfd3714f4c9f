"""Verdicts that ``--fail-on`` of ``run`` and ``try`` gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.cli import study_runner
from iostudy.results.comparisons import compare_configurations
from tests.report.factory import build_report, factor, rows, study, study_row


@pytest.mark.parametrize(
    ("verdict", "guarded", "found"),
    [
        (Verdict.WORSE, False, "worse"),
        (Verdict.NOT_WORSE, False, "inconclusive"),
        (Verdict.NOT_WORSE, True, "not worse"),
        (Verdict.NOT_BETTER, False, "inconclusive"),
        (Verdict.EQUIVALENT, False, "equivalent"),
    ],
)
def test_one_side_decides_what_the_goal_wants_to_know(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verdict: Verdict, found: str, *, guarded: bool
) -> None:
    plan = study(factor("block.scheduler", "none", "bfq"), workloads=["file-writes"])
    report = build_report(plan, study_row(plan), rows(plan))
    (workload,) = report.workloads
    baseline, bfq = workload.results
    changed = bfq.model_copy(update={"verdict": verdict, "guarded": guarded})
    shown = workload.model_copy(update={"results": (baseline, changed)})
    report = report.model_copy(update={"workloads": (shown,)})
    monkeypatch.setattr(study_runner, "print_report", lambda folder, form: report)
    results = compare_configurations(plan, rows(plan))
    assert study_runner.print_existing_report(results, tmp_path) == {found}
