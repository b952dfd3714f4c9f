"""``iostudy compare``: comparison of two studies by the effects within each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from iostudy.cli.answer_output import (
    VERDICT_EXIT,
    CiOutput,
    FailOnOption,
    JunitOption,
    SummaryOption,
    build_ci_output,
)
from iostudy.cli.arguments import UnsafeFolders, parse_percent_option, usage_error
from iostudy.cli.console import print_text, print_utf8, say
from iostudy.errors import UsageError

if TYPE_CHECKING:
    from iostudy.report.base import Value
    from iostudy.report.render.verdict_cases import VerdictCase
    from iostudy.report.section import Document


class ComparisonFormat(StrEnum):
    """Output format of a comparison."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"


def compare(
    first: Annotated[Path, typer.Argument(metavar="DIR_A", help="An output folder of `run`.")],
    second: Annotated[Path, typer.Argument(metavar="DIR_B", help="Another output folder.")],
    configuration: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL[=LABEL]",
            help="Configuration to compare, by its label in DIR_A (and in DIR_B, if different).",
            show_default="the baselines, and all of the same label",
        ),
    ] = None,
    form: Annotated[
        ComparisonFormat, typer.Option("--format", help="Output format.")
    ] = ComparisonFormat.TERMINAL,
    fail_on: FailOnOption = None,
    junit: JunitOption = None,
    summary: SummaryOption = None,
    fio: Annotated[
        bool,
        typer.Option("--fio", help="Compare runs of fio: quoted patterns of its JSON reports."),
    ] = False,
    table: Annotated[
        bool, typer.Option("--csv", help="Compare runs of two files of lines NAME,VALUE.")
    ] = False,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,NAME...]",
            help="With --fio or --csv: a figure that gets a verdict; repeatable.",
            show_default="bandwidth; all common names of a CSV",
        ),
    ] = None,
    lower_is_better: Annotated[
        bool | None,
        typer.Option("--lower-is-better/--higher-is-better", help="With --csv: for all figures."),
    ] = None,
    margin: Annotated[
        str | None, typer.Option(help="With --fio or --csv: the margin.", show_default="3%")
    ] = None,
    risk: Annotated[
        str | None,
        typer.Option(help="With --fio or --csv: chance of any wrong verdict.", show_default="5%"),
    ] = None,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Compare two studies, of two days or two hosts.

    Verdicts compare the change of a configuration from the baseline of its own study. Figures of
    two studies have no verdict. Every difference between their circumstances is listed. Runs
    without a study (--fio, --csv) are not paired, so that a change of the host between the sets
    counts as theirs.
    """
    ci = build_ci_output(fail_on, junit, summary, insist=unsafe_folders)
    if fio and table:
        raise _unusable("--fio or --csv", "both")
    if fio or table:
        names = dict.fromkeys(name.strip() for text in figure or () for name in text.split(","))
        rule = _RunsRule(fio, tuple(names), lower_is_better, margin or "3%", risk or "5%")
        if configuration or (fio and lower_is_better is not None):
            raise _unusable("options of runs", "--configuration, or a direction with --fio")
        _compare_runs((str(first), str(second)), rule, form, ci)
        return
    if figure or lower_is_better is not None or margin or risk:
        options = "--figure, a direction, --margin or --risk"
        raise _unusable("--fio or --csv with options of runs", options)
    # Imported here: statistics take most of a second to load.
    from iostudy.cli.report_output import read_recorded
    from iostudy.report.documents.comparison import build_comparison, build_comparison_document
    from iostudy.report.render.verdict_cases import list_comparison_cases, select_cases

    if first.resolve() == second.resolve():
        raise UsageError(
            "two studies",
            found="the same folder twice",
            where=f"{first} and {second}",
            remedy="give the folder of another study; `iostudy report` prints one study",
        )
    report = build_comparison(read_recorded(first), read_recorded(second), configuration or ())
    cases = tuple(list_comparison_cases(report))
    _print(report, build_comparison_document(report), cases, form, ci)
    if ci.fail_on:
        # A job must not pass for want of a verdict: of the requested pairs, or of all.
        missing = [pair.no_effect for pair in report.compared if pair.effect is None]
        if missing and (configuration or len(missing) == len(report.compared)):
            raise UsageError(
                "an effect in both studies, for the verdicts of --fail-on",
                found="; ".join(dict.fromkeys(missing)),
                where=f"{first} and {second}",
                remedy="put old and new into one study, as two configurations, for `iostudy run "
                "--fail-on`; or run both studies with the same baseline",
            )
        _exit_by_verdicts(select_cases(cases, ci.fail_on))


@dataclass(frozen=True)
class _RunsRule:
    """How runs are compared that exist already; margin and risk as the command line has them."""

    fio: bool
    figures: tuple[str, ...]
    lower_is_better: bool | None
    margin: str
    risk: str


def _unusable(wanted: str, found: str) -> UsageError:
    return usage_error(wanted, found, "see `iostudy compare --help`")


def _compare_runs(
    places: tuple[str, str], rule: _RunsRule, form: ComparisonFormat, ci: CiOutput
) -> None:
    """Compare runs without a study: fio's reports, or a CSV."""
    from iostudy.cli.existing_runs import read_csv_runs, read_fio_runs
    from iostudy.report.documents.existing_runs import build_runs_comparison, build_runs_document
    from iostudy.report.render.verdict_cases import list_runs_cases, select_cases

    margin, risk = (
        parse_percent_option(option, text, most)
        for option, text, most in (("--margin", rule.margin, 1.0), ("--risk", rule.risk, 0.5))
    )
    if rule.fio:
        figures, differences = read_fio_runs(places, rule.figures)
    else:
        higher = None if rule.lower_is_better is None else not rule.lower_is_better
        figures, differences = read_csv_runs(places, rule.figures, higher_is_better=higher)
    report = build_runs_comparison(places, figures, margin, risk, differences)
    cases = tuple(list_runs_cases(report))
    _print(report, build_runs_document(report), cases, form, ci)
    _exit_by_verdicts(select_cases(cases, ci.fail_on))


def _print(
    report: Value,
    document: Document,
    cases: Sequence[VerdictCase],
    form: ComparisonFormat,
    ci: CiOutput,
) -> None:
    from iostudy.cli.report_output import print_document
    from iostudy.report.render import json_, markdown

    match form:
        case ComparisonFormat.JSON:
            print_utf8(json_.render(report))
        case ComparisonFormat.MARKDOWN:
            print_text(markdown.render_document(document))
        case ComparisonFormat.TERMINAL:
            print_document(document)
        case unreachable:
            assert_never(unreachable)
    ci.write(document.title, cases, lambda: markdown.render_document(document))


def _exit_by_verdicts(failed: Sequence[VerdictCase]) -> None:
    """Print the verdicts that are failures, and exit for any."""
    for case in failed:
        say(f"{case.workload}, {case.name}: {case.text}")
    if failed:
        raise typer.Exit(VERDICT_EXIT)
