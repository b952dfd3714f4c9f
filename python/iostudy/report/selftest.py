"""Where the comparisons of ``studies/selftest.yaml`` stand -> whether the tool can be trusted here.

The truth is known: the option ``slow_down`` lowers a rate by exactly its value (pure).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from iostudy.analysis.verdict import Verdict
from iostudy.report import wording
from iostudy.report.columns import TextTable
from iostudy.report.finite import span
from iostudy.report.noise import of_workload
from iostudy.report.values.noise import NoiseTold
from iostudy.report.values.selftest import ExpectationTold, Outcome, SelftestTold
from iostudy.results.comparisons import ComparisonResult
from iostudy.study.model import Study
from iostudy.units import format_percent, parse_percent

OPTION = "slow_down"


def selftest(study: Study, final: Sequence[ComparisonResult], folder: str) -> SelftestTold:
    """What was to be found, and what was."""
    true = {c.label: -parse_percent(c.options[OPTION]) for c in study.configurations()}
    expectations = tuple(_expectation(each, true[each.configuration]) for each in final)
    outcomes = {each.outcome for each in expectations}
    outcome = next(each for each in reversed(Outcome) if each in outcomes)
    noise = of_workload(study, final[0].workload, final)
    return SelftestTold(
        outcome=outcome,
        told=_conclusion(outcome, study, noise),
        expectations=expectations,
        noise=noise,
        folder=folder,
    )


def table(told: SelftestTold) -> TextTable:
    """A line for each expectation."""
    heads = ("", "is to be", "was found", "verdict", "blocks", "")
    rows = [
        (
            each.configuration,
            "no different"
            if each.expected_change == 0
            else wording.signed_percent(each.expected_change),
            wording.change_within(each.change, each.interval),
            str(each.verdict),
            str(each.blocks),
            each.told,
        )
        for each in told.expectations
    ]
    return TextTable("", heads, rows, names=1)


def _expectation(standing: ComparisonResult, true_change: float) -> ExpectationTold:
    comparison = standing.comparison
    low, high = comparison.change_interval
    holds = low <= true_change <= high
    outcome, told = _judged(comparison.verdict, holds=holds, same=true_change == 0)
    return ExpectationTold(
        configuration=standing.configuration,
        expected_change=true_change,
        change=comparison.change,
        interval=span(comparison.change_interval),
        holds=holds,
        verdict=comparison.verdict,
        blocks=comparison.blocks,
        outcome=outcome,
        told=told,
    )


def _judged(verdict: Verdict, *, holds: bool, same: bool) -> tuple[Outcome, str]:
    """That the same is not told apart is right, whether or not the blocks show that it is equal."""
    match verdict:
        case Verdict.INCONCLUSIVE if not same:
            return Outcome.UNDECIDED, "not found yet"
        case Verdict.BETTER | Verdict.WORSE if same:
            return Outcome.FAILED, "a false winner"
        case Verdict.BETTER | Verdict.EQUIVALENT if not same:
            return Outcome.FAILED, f"called {verdict}"
        case _ if not holds:
            return Outcome.FAILED, "the interval misses what it is to be"
        case Verdict.WORSE:
            return Outcome.PASSED, "found"
        case Verdict.EQUIVALENT:
            return Outcome.PASSED, "found equivalent"
        case Verdict.INCONCLUSIVE | Verdict.BETTER:
            return Outcome.PASSED, "not told apart"
        case unreachable:
            assert_never(unreachable)


def _conclusion(outcome: Outcome, study: Study, noise: NoiseTold | None) -> str:
    match outcome:
        case Outcome.PASSED:
            return "passed: what is slower was found, by as much as it is, and what is not was not"
        case Outcome.UNDECIDED:
            known = f" ({noise.told})" if noise else ""
            blocks = study.decide.max_blocks
            return (
                f"undecided: this machine is too noisy for {blocks} blocks{known}. Quieten it "
                "and run the selftest again; nothing speaks against iostudy"
            )
        case Outcome.FAILED:
            risk = format_percent(study.decide.risk)
            return (
                f"FAILED: see the table. By chance this happens in at most {risk} of selftests: "
                "run it once more. If it fails again, do not trust verdicts on this storage, and "
                "report it with the output folder"
            )
        case unreachable:
            assert_never(unreachable)
