"""Output of the answer of a study: forms on stdout, exit codes by verdict, JUnit XML, a summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from iostudy.cli.arguments import Json, usage_error
from iostudy.cli.console import print_renderable, print_text, say
from iostudy.output_file import OutputFile

if TYPE_CHECKING:
    from iostudy.report.render.verdict_cases import VerdictCase
    from iostudy.report.values import Report

# Functions import the modules of reports, which help and usage errors do not need.

Full = Annotated[bool, typer.Option("--full", help="Print the whole report, not one screen.")]
Markdown = Annotated[
    bool, typer.Option("--markdown", help="Print the answer as Markdown, to paste into an issue.")
]


class AnswerForm(StrEnum):
    """Form of an answer on stdout."""

    SCREEN = "one screen"
    FULL = "--full"
    MARKDOWN = "--markdown"
    JSON = "--json"


def choose_form(*, full: bool, markdown: bool, json: Json) -> AnswerForm:
    """Return the requested form; UsageError for several."""
    given = {AnswerForm.FULL: full, AnswerForm.MARKDOWN: markdown, AnswerForm.JSON: json}
    chosen = [form for form, wanted in given.items() if wanted]
    if len(chosen) > 1:
        raise usage_error(
            "one form of the answer",
            " and ".join(chosen),
            "give one of them; report.md and report.json are in the output folder too",
        )
    return chosen[0] if chosen else AnswerForm.SCREEN


def print_answer(report: Report, folder: Path, form: AnswerForm) -> None:
    """Print the answer on stdout; that of JSON depends on the exit code and is printed later."""
    from iostudy.report.answer import build_answer
    from iostudy.report.render import markdown, terminal

    if form is not AnswerForm.SCREEN:
        say(f"report: {folder / 'report.html'}")
    match form:
        case AnswerForm.SCREEN:
            print_renderable(build_answer(report, folder))
        case AnswerForm.FULL:
            print_renderable(terminal.render(report))
        case AnswerForm.MARKDOWN:
            print_text(markdown.render_answer(build_answer(report, folder)))
        case AnswerForm.JSON:
            pass
        case unreachable:
            assert_never(unreachable)


VERDICT_EXIT = 1


class FailOn(StrEnum):
    """Verdicts for which a command exits with VERDICT_EXIT."""

    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"


FailOnOption = Annotated[
    list[FailOn] | None,
    typer.Option(help=f"Exit with {VERDICT_EXIT} if any verdict is this one; repeatable."),
]
JunitOption = Annotated[
    OutputFile | None,
    typer.Option(metavar="FILE", parser=OutputFile, help="Write the verdicts as JUnit XML."),
]
SummaryOption = Annotated[
    OutputFile | None,
    typer.Option(
        metavar="FILE",
        parser=OutputFile,
        envvar="GITHUB_STEP_SUMMARY",
        help="Append the result as Markdown, as the summary of a GitHub step.",
    ),
]


@dataclass(frozen=True)
class CiOutput:
    """The requested files, and the verdicts that are failures."""

    junit: OutputFile | None
    summary: OutputFile | None
    fail_on: frozenset[str]

    @property
    def has_files(self) -> bool:
        """Whether a file is requested."""
        return self.junit is not None or self.summary is not None

    def write(
        self, name: str, cases: Sequence[VerdictCase], render_summary: Callable[[], str]
    ) -> None:
        """Write the requested files; RecordError if that fails."""
        from iostudy.report.render.verdict_cases import render_junit

        if self.junit is not None:
            self.junit.write(render_junit(name, cases, self.fail_on))
        if self.summary is not None:
            self.summary.append(render_summary())


def build_ci_output(
    fail_on: Sequence[FailOn] | None,
    junit: OutputFile | None,
    summary: OutputFile | None,
    *,
    insist: bool,
) -> CiOutput:
    """Return the output that the options request; UnsafePathError and UsageError if it is unsafe.

    ``insist`` waives the check of the folders.
    """
    for file in filter(None, (junit, summary)):
        file.require_safe(insist=insist)
    return CiOutput(junit, summary, frozenset(wanted.value for wanted in fail_on or ()))
