"""Verdict, interval and sentence of simulated studies agree with each other."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np
import pytest

from iostudy.analysis.comparison import compare_ratios
from iostudy.analysis.rule import Rule
from iostudy.analysis.verdict import Verdict
from iostudy.report.topics.verdicts import Result
from iostudy.report.values import Report
from iostudy.results.comparisons import decision_rule
from tests.report.factory import build_report, factor, row, study, study_row

BASELINE, OTHER, WORKLOAD = "mq-deadline", "kyber", "file-writes"
STUDY = study(factor("block.scheduler", BASELINE, OTHER), workloads=(WORKLOAD,))
RULE: Rule = decision_rule(STUDY)


@dataclass(frozen=True)
class Case:
    """The truth of a study, and how it ends."""

    change: float
    noise: float
    verdict: Verdict
    by_margin: bool = False
    futile: bool = False


CASES = {
    "much better": Case(0.12, 0.005, Verdict.BETTER, by_margin=True),
    "better": Case(0.12, 0.03, Verdict.BETTER),
    "better by less than the margin": Case(0.028, 0.002, Verdict.BETTER),
    "much worse": Case(-0.15, 0.005, Verdict.WORSE, by_margin=True),
    "worse": Case(-0.08, 0.02, Verdict.WORSE),
    "equal": Case(0.0, 0.008, Verdict.EQUIVALENT),
    "equivalent and above zero": Case(0.012, 0.005, Verdict.EQUIVALENT),
    "equivalent and below zero": Case(-0.012, 0.005, Verdict.EQUIVALENT),
    "hopeless": Case(0.0, 0.1, Verdict.INCONCLUSIVE, futile=True),
    "harmless": Case(0.02, 0.02, Verdict.NOT_WORSE),
}


def carry_out(case: Case) -> Report:
    """The report of a study that stops as a real one does."""
    draw = random.Random(2)
    figures = [
        [412 * (1 + change) * math.exp(draw.gauss(0, case.noise)) for change in (0.0, case.change)]
        for _ in range(RULE.max_blocks)
    ]
    ratios = np.diff(np.log(figures))[:, 0]
    for last in range(RULE.min_blocks, RULE.max_blocks + 1):
        comparison = compare_ratios(ratios[:last], higher_is_better=True, rule=RULE)
        if comparison.verdict.is_final or comparison.futile:
            break
    trials = [
        row(
            2 * block + place + 1,
            block + 1,
            place + 1,
            WORKLOAD,
            label,
            figures[block][label == OTHER],
        )
        for block in range(last)
        for place, label in enumerate((BASELINE, OTHER)[:: 1 if block % 2 else -1])
    ]
    return build_report(STUDY, study_row(STUDY), trials)


def read_verdict(result: Result) -> tuple[Verdict, bool]:
    """The verdict that follows from the shown interval alone."""
    assert result.interval is not None
    low, high = (math.log1p(end) for end in (result.interval.low, result.interval.high))
    if -RULE.delta < low and high < RULE.delta:
        return Verdict.EQUIVALENT, False
    if low > 0:
        return Verdict.BETTER, low > RULE.delta
    if high < 0:
        return Verdict.WORSE, high < -RULE.delta
    if low > -RULE.delta:
        return Verdict.NOT_WORSE, False
    return Verdict.INCONCLUSIVE, False


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_verdict_interval_and_sentence_agree(case: Case):
    report = carry_out(case)
    (workload,) = report.workloads
    _, result = workload.results
    assert (result.verdict, result.by_margin, result.futile) == (
        case.verdict,
        case.by_margin,
        case.futile,
    )
    assert read_verdict(result) == (case.verdict, case.by_margin)
    assert result.interval is not None
    assert result.change is not None
    assert result.interval.low <= result.change <= result.interval.high
    for text in (report.headline, workload.answer):
        check_sentence(text, result, case)
    assert ("perhaps less than the margin" in workload.answer) == (
        case.verdict in (Verdict.BETTER, Verdict.WORSE) and not case.by_margin
    )


def check_sentence(text: str, result: Result, case: Case) -> None:
    """The sentence has the word and the size of the verdict."""
    words = {
        Verdict.BETTER: ("is better than", "gains"),
        Verdict.WORSE: ("is worse than", "costs"),
        Verdict.EQUIVALENT: ("does not differ from",),
        Verdict.NOT_WORSE: ("is not worse than", "is not worse by"),
        Verdict.NOT_BETTER: ("is not better than", "is not better by"),
        Verdict.INCONCLUSIVE: ("inconclusive after",),
    }
    assert any(word in text for word in words[case.verdict]), text
    others = [word for verdict in Verdict if verdict is not case.verdict for word in words[verdict]]
    assert not any(word in text for word in others), text
    if case.verdict in (Verdict.BETTER, Verdict.WORSE):
        assert result.change is not None
        assert f"{abs(100 * result.change):.1f} %" in text
    if case.futile:
        assert result.blocks_needed is not None
        assert result.blocks_needed > RULE.max_blocks
