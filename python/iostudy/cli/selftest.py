"""``iostudy selftest``: check of the method on this machine with known slow-downs.

The results of ``studies/selftest.yaml`` are compared with the known truth: the option ``slow_down``
lowers a rate by exactly its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, assert_never

import typer
from pydantic import Field, FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.cli.arguments import Json, Seed, UnsafeFolders
from iostudy.cli.consent import Consent
from iostudy.cli.console import print_json, print_line, print_table, say
from iostudy.cli.output_folder import find_output_folder, print_resume_hint_on_signal, refuse_seed
from iostudy.report.base import Span, Value, build_span, declare_schema
from iostudy.report.formatting import format_change_interval, format_signed_change
from iostudy.report.section import TextTable
from iostudy.report.topics.noise import PowerEstimateReport, build_workload_power
from iostudy.results.comparisons import ComparisonResult
from iostudy.study import library
from iostudy.study.model import Study
from iostudy.study.parser import load, parse
from iostudy.study.source import read, write
from iostudy.units import format_percent, parse_percent

NAME = "selftest"
FAILED_EXIT = 1
UNDECIDED_EXIT = 5


def selftest(
    target: Annotated[
        Path, typer.Option(metavar="DIR", help="Directory of the 64 MiB scratch file.")
    ] = Path(),
    out: Annotated[
        Path | None, typer.Option(help="Output folder.", show_default="results/selftest-DATE-TIME")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the selftest in the output folder.")
    ] = False,
    unsafe_folders: UnsafeFolders = False,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Check on this machine that known slow-downs are detected.

    The study compares direct writes to a scratch file with identical writes and with writes that
    are 5 % and 10 % slower. It takes one to six minutes, depending on the noise, and needs no root.
    The exit code is 0 if every verdict is right, 5 if the noise leaves one undecided, 1 if one is
    wrong.
    """
    refuse_seed(seed, resume=resume)
    study, folder = study_on(target), find_output_folder(NAME, out, resume=resume)
    consent = Consent(unsafe_folders=unsafe_folders)
    command = ["iostudy", NAME, "--target", str(target), *consent.resume_options()]
    with print_resume_hint_on_signal(command, folder):
        # Here and not above: statistics and charts take most of a second to load.
        from iostudy.cli.study_runner import run_and_write_report

        final = run_and_write_report(study, folder, consent, resume=resume, seed=seed)
        result = build_selftest(study, final, str(folder))
    _print_selftest(result, json=json)
    say(f"report: {folder / 'report.html'}")
    codes = {
        ExpectationOutcome.PASSED: 0,
        ExpectationOutcome.UNDECIDED: UNDECIDED_EXIT,
        ExpectationOutcome.FAILED: FAILED_EXIT,
    }
    if code := codes[result.outcome]:
        raise typer.Exit(code)


def study_on(target: Path) -> Study:
    """Return the ready-made study with that directory as its target."""
    path = library.FOLDER / f"{NAME}.yaml"
    values = read(load(path).text, str(path)).values
    text = write({**values, "target": str(target)})
    return parse(text, where=str(path), name=NAME)


def _print_selftest(result: SelftestReport, *, json: bool) -> None:
    if json:
        print_json(result.model_dump(mode="json"))
        return
    shown = build_selftest_table(result)
    print_table(shown.heads, shown.rows)
    print_line()
    print_line(result.sentence)


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

    schema_name: Literal["iostudy.selftest/1"] = declare_schema("iostudy.selftest/1")
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
    expectations = tuple(_expectation(result, true[result.configuration]) for result in final)
    outcomes = {expectation.outcome for expectation in expectations}
    outcome = next(kind for kind in reversed(ExpectationOutcome) if kind in outcomes)
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
            expectation.configuration,
            "no different"
            if expectation.expected_change == 0
            else format_signed_change(expectation.expected_change),
            format_change_interval(expectation.change, expectation.interval),
            str(expectation.verdict),
            str(expectation.blocks),
            expectation.sentence,
        )
        for expectation in selftest.expectations
    ]
    return TextTable("", heads, rows, names=1)


def _expectation(result: ComparisonResult, true_change: float) -> ExpectationResult:
    comparison = result.comparison
    low, high = comparison.change_interval
    holds = low <= true_change <= high
    outcome, sentence = _judged(comparison.verdict, holds=holds, same=true_change == 0)
    return ExpectationResult.copy_from(
        comparison,
        configuration=result.configuration,
        expected_change=true_change,
        interval=build_span(comparison.change_interval),
        holds=holds,
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
            noise_text = f" ({noise.sentence})" if noise else ""
            blocks = study.decide.max_blocks
            return (
                f"undecided: this machine is too noisy for {blocks} blocks{noise_text}. Reduce "
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
