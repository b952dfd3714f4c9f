"""Trials without a comparable figure are INVALID."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from iostudy.errors import TrialError
from iostudy.execution.validity import explain_unusable_figures
from iostudy.ledger.rows import TrialStatus
from iostudy.node.protocol import TrialResult
from iostudy.workloads.definition import Figure
from tests.execution.test_runner import TEXT, conduct, rows
from tests.fake_node import FakeNode

RATE = Figure("rate", "MiB/s", "bytes over time", higher_is_better=True)


class MissingFigureNode(FakeNode):
    """Its second trial does not give the figure that verdicts use."""

    def run(self, request, configuration) -> TrialResult:
        result = super().run(request, configuration)
        if self._trials != 2:
            return result
        figures = {k: v for k, v in result.figures.items() if k != request.figure.name}
        return replace(result, figures=figures)


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"rate": 0.0}, "rate is 0 MiB/s"),
        ({"rate": -1.5}, "rate is -1.5 MiB/s"),
        ({"rate": math.nan}, "rate is nan MiB/s"),
        ({"rate": math.inf}, "rate is inf MiB/s"),
        ({}, "gave no rate"),
    ],
)
def test_a_figure_without_a_ratio_is_reported(figures, words):
    assert words in explain_unusable_figures(figures, [RATE])


def test_a_figure_above_0_is_decidable():
    assert explain_unusable_figures({"rate": 1e-9}, [RATE]) == ""


@pytest.mark.parametrize("base", [0.0, -1000.0, math.nan])
def test_a_study_of_such_figures_ends_with_the_reason(tmp_path, base):
    with pytest.raises(TrialError, match=r"bandwidth is .*a verdict needs a figure above 0"):
        conduct(tmp_path, FakeNode(base=base))
    found = rows(tmp_path)
    assert {row.status for row in found} == {TrialStatus.FAILED}
    assert len({row.attempt for row in found}) > 1
    assert all("MiB/s" in row.reason for row in found)
    assert found[0].figures is not None


def test_a_missing_figure_is_a_result_of_its_configuration(tmp_path):
    conduct(tmp_path, MissingFigureNode(noise=0.005))
    found = rows(tmp_path)
    assert found[1].status is TrialStatus.FAILED
    assert "gave no bandwidth" in found[1].reason
    assert {row.attempt for row in found} == {1}


def test_the_figure_that_the_study_names_is_the_one_that_is_looked_at(tmp_path):
    text = TEXT.replace(
        "[{io: {label: file-writes, operation: write}}, {io: {label: file-reads}}]",
        "[{io: {label: file-writes, operation: write, figure: cpu_per_io, files: 1}}]",
    )
    with pytest.raises(TrialError, match=r"cpu_per_io is 0 us"):
        conduct(tmp_path, FakeNode(base=0.0), text=text)
