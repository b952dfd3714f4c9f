"""The method of interim analyses is that of the ledger."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from iostudy.analysis.paired import mean_interval
from iostudy.analysis.sequential import repeated_alpha
from iostudy.analysis.spending import AnalysisMethod
from iostudy.errors import LedgerError, StudyError
from iostudy.ledger.studies import METHOD, recorded_study
from iostudy.results.comparisons import compare_configurations
from tests.report.factory import CIRCUMSTANCES, build_report, rows, study, study_row


def test_a_ledger_without_a_method_keeps_what_it_said() -> None:
    row = study_row(study())
    old, trials = recorded_study(row), rows(study(), blocks=9)
    assert METHOD not in row.circumstances
    assert old.method is AnalysisMethod.CONSTANT_LEVEL
    level = repeated_alpha(5, 20, 0.05 / 6)
    for result in compare_configurations(old, trials):
        own, base = (
            np.log(
                [
                    row.figures[result.figure.name]
                    for row in trials
                    if (row.workload, row.configuration) == (result.workload, label) and row.figures
                ]
            )
            for label in (result.configuration, "none")
        )
        blocks = result.comparison.blocks
        expected = mean_interval((own - base[: len(own)])[:blocks], level)
        found = result.comparison.interval
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
        assert not result.comparison.futile
    text = build_report(old, row, trials).method.text
    assert "one level for interim analyses after every block" in text
    assert "one-sided" not in text


def test_a_recorded_method_is_that_of_the_study() -> None:
    row = study_row(study(), {**CIRCUMSTANCES, METHOD: "error spending"})
    new = recorded_study(row)
    assert new.method is AnalysisMethod.ERROR_SPENDING
    text = build_report(new, row, rows(study(), blocks=9)).method.text
    assert "levels that spend the risk over interim analyses after every block" in text
    assert "two one-sided tests" in text


def test_the_method_of_a_later_version_is_refused() -> None:
    row = study_row(study(), {**CIRCUMSTANCES, METHOD: "oracle"})
    with pytest.raises(LedgerError, match=r"(?s)oracle.*use iostudy 9\.9"):
        recorded_study(replace(row, iostudy_version="9.9"))


def test_a_study_that_this_version_cannot_read_names_the_version_that_wrote_it() -> None:
    row = study_row(study())
    with pytest.raises(StudyError, match=f"or use iostudy {row.iostudy_version}"):
        recorded_study(replace(row, text=row.text.replace("workloads:", "workload:")))
