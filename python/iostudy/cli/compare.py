"""``iostudy compare``: comparison of two studies by the effects within each."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from iostudy.cli.arguments import UnsafeFolders
from iostudy.cli.ci_output import (
    VERDICT_EXIT,
    FailOnOption,
    JunitOption,
    SummaryOption,
    build_ci_output,
)
from iostudy.cli.console import print_text, print_utf8, say
from iostudy.errors import UsageError

if TYPE_CHECKING:
    from iostudy.report.documents.comparison.values import StudyComparison
    from iostudy.report.verdict_cases import VerdictCase


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
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Compare two studies, of two days or two hosts.

    Verdicts compare the change of a configuration from the baseline of its own study. Figures of
    two studies have no verdict. Every difference between their circumstances is listed.
    """
    # Imported here: statistics take most of a second to load.
    from iostudy.cli.report_output import print_document, read_recorded
    from iostudy.report.documents.comparison.build import build_comparison
    from iostudy.report.documents.comparison.document import build_comparison_document
    from iostudy.report.render import json_, markdown
    from iostudy.report.verdict_cases import list_comparison_cases, select_cases

    ci = build_ci_output(fail_on, junit, summary, insist=unsafe_folders)
    if first.resolve() == second.resolve():
        raise UsageError(
            "two studies",
            found="the same folder twice",
            where=f"{first} and {second}",
            remedy="give the folder of another study; `iostudy report` prints one study",
        )
    report = build_comparison(read_recorded(first), read_recorded(second), configuration or ())
    document = build_comparison_document(report)
    match form:
        case ComparisonFormat.JSON:
            print_utf8(json_.render(report))
        case ComparisonFormat.MARKDOWN:
            print_text(markdown.render_document(document))
        case ComparisonFormat.TERMINAL:
            print_document(document)
        case unreachable:
            assert_never(unreachable)
    cases = tuple(list_comparison_cases(report))
    ci.write(document.title, cases, lambda: markdown.render_document(document))
    if ci.fail_on:
        _require_effects(report, (first, second), all_pairs=bool(configuration))
        _exit_by_verdicts(select_cases(cases, ci.fail_on))


def _exit_by_verdicts(failed: Sequence[VerdictCase]) -> None:
    """Print the verdicts that are failures, and exit for any."""
    for case in failed:
        say(f"{case.workload}, {case.name}: {case.text}")
    if failed:
        raise typer.Exit(VERDICT_EXIT)


def _require_effects(
    report: StudyComparison, places: tuple[Path, Path], *, all_pairs: bool
) -> None:
    """Refuse a comparison without any effect, or with ``all_pairs`` with a pair without one.

    A job must not pass for want of a verdict.
    """
    missing = [each.no_effect for each in report.compared if each.effect is None]
    if missing and (all_pairs or len(missing) == len(report.compared)):
        raise UsageError(
            "an effect in both studies, for the verdicts of --fail-on",
            found="; ".join(dict.fromkeys(missing)),
            where=f"{places[0]} and {places[1]}",
            remedy="put old and new into one study, as two configurations, for `iostudy run "
            "--fail-on`; or run both studies with the same baseline",
        )
