"""Selftest: comparison of the results of ``studies/selftest.yaml`` with the known truth.

The truth is known: the option ``slow_down`` lowers a rate by exactly its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal, assert_never

from pydantic import Field, FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Span, Value, build_span
from iostudy.report.formatting import format_change_interval, format_signed_change
from iostudy.report.section import TextTable
from iostudy.report.topics.noise import PowerEstimateReport, build_workload_power
from iostudy.results.comparisons import ComparisonResult
from iostudy.study.model import Study
from iostudy.units import format_percent, parse_percent


class ExpectationOutcome(StrEnum):
    """The outcome of an expectation, or of all of them."""

    PASSED = "passed"
    UNDECIDED = "undecided"
    FAILED = "failed"


class ExpectationResult(Value):
    """Expected and observed change of one configuration."""

    configuration: str
    """Label of the configuration."""
    expected_change: FiniteFloat
    """True change of the figure, as a fraction: 0, or that of a known slow-down."""
    change: FiniteFloat
    """Observed change, as a fraction."""
    interval: Span | None
    """Its confidence interval; null if unknown."""
    holds: bool
    """Whether the interval contains the true change."""
    verdict: Verdict
    """Verdict of the comparison."""
    blocks: int
    """Number of counted blocks."""
    outcome: ExpectationOutcome
    """Outcome of the expectation."""
    sentence: str = Field(serialization_alias="told")
    """The outcome in a sentence."""


class SelftestReport(Value):
    """Outcome of a selftest."""

    schema_name: Literal["iostudy.selftest/1"] = Field(
        default="iostudy.selftest/1", serialization_alias="schema"
    )
    """The form of this document; the number grows when a reader of the old form would fail."""
    outcome: ExpectationOutcome
    """Outcome of all expectations."""
    sentence: str = Field(serialization_alias="told")
    """The outcome in a sentence."""
    expectations: tuple[ExpectationResult, ...]
    """Outcome of each expectation."""
    noise: PowerEstimateReport | None
    """Noise of the workload; null if unknown."""
    folder: str
    """Output folder of the selftest's study."""


OPTION = "slow_down"


def build_selftest(study: Study, final: Sequence[ComparisonResult], folder: str) -> SelftestReport:
    """Return the expected and the observed results."""
    true = {c.label: -parse_percent(c.options[OPTION]) for c in study.configurations()}
    expectations = tuple(_expectation(each, true[each.configuration]) for each in final)
    outcomes = {each.outcome for each in expectations}
    outcome = next(each for each in reversed(ExpectationOutcome) if each in outcomes)
    noise = build_workload_power(study, final[0].workload, final)
    return SelftestReport(
        outcome=outcome,
        sentence=_conclusion(outcome, study, noise),
        expectations=expectations,
        noise=noise,
        folder=folder,
    )


def build_selftest_table(selftest: SelftestReport) -> TextTable:
    """A line for each expectation."""
    heads = ("", "expected", "observed", "verdict", "blocks", "")
    rows = [
        (
            each.configuration,
            "no different"
            if each.expected_change == 0
            else format_signed_change(each.expected_change),
            format_change_interval(each.change, each.interval),
            str(each.verdict),
            str(each.blocks),
            each.sentence,
        )
        for each in selftest.expectations
    ]
    return TextTable("", heads, rows, names=1)


def _expectation(result: ComparisonResult, true_change: float) -> ExpectationResult:
    comparison = result.comparison
    low, high = comparison.change_interval
    holds = low <= true_change <= high
    outcome, sentence = _judged(comparison.verdict, holds=holds, same=true_change == 0)
    return ExpectationResult(
        configuration=result.configuration,
        expected_change=true_change,
        change=comparison.change,
        interval=build_span(comparison.change_interval),
        holds=holds,
        verdict=comparison.verdict,
        blocks=comparison.blocks,
        outcome=outcome,
        sentence=sentence,
    )


def _judged(verdict: Verdict, *, holds: bool, same: bool) -> tuple[ExpectationOutcome, str]:
    """Judge a verdict; the same configuration may be equivalent or undecided."""
    match verdict:
        case Verdict.INCONCLUSIVE | Verdict.NOT_WORSE | Verdict.NOT_BETTER if not same:
            return ExpectationOutcome.UNDECIDED, "not detected yet"
        case Verdict.BETTER | Verdict.WORSE if same:
            return ExpectationOutcome.FAILED, "false positive"
        case Verdict.BETTER | Verdict.EQUIVALENT if not same:
            return ExpectationOutcome.FAILED, f"called {verdict}"
        case _ if not holds:
            return ExpectationOutcome.FAILED, "interval misses the expected change"
        case Verdict.WORSE:
            return ExpectationOutcome.PASSED, "detected"
        case Verdict.EQUIVALENT:
            return ExpectationOutcome.PASSED, "equivalent"
        case _:
            return ExpectationOutcome.PASSED, "no difference"


def _conclusion(
    outcome: ExpectationOutcome, study: Study, noise: PowerEstimateReport | None
) -> str:
    match outcome:
        case ExpectationOutcome.PASSED:
            return "passed: known slow-downs were detected at their true size, and nothing else"
        case ExpectationOutcome.UNDECIDED:
            known = f" ({noise.sentence})" if noise else ""
            blocks = study.decide.max_blocks
            return (
                f"undecided: this machine is too noisy for {blocks} blocks{known}. Reduce "
                "its load and repeat the selftest; it found no error of iostudy"
            )
        case ExpectationOutcome.FAILED:
            risk = format_percent(study.decide.risk)
            return (
                f"FAILED: see the table. By chance this happens in at most {risk} of selftests: "
                "repeat it. If it fails again, do not trust verdicts on this storage, and report a "
                "bug with the output folder"
            )
        case unreachable:
            assert_never(unreachable)
