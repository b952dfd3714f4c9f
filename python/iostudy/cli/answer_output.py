"""Output of the answer of a study: one screen, all of it, Markdown or JSON."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from iostudy.cli.arguments import Json, usage_error
from iostudy.cli.console import print_renderable, print_text, say

if TYPE_CHECKING:
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
            print_renderable(terminal.render_answer(build_answer(report, folder)))
        case AnswerForm.FULL:
            print_renderable(terminal.render(report))
        case AnswerForm.MARKDOWN:
            print_text(markdown.render_answer(build_answer(report, folder)))
        case AnswerForm.JSON:
            pass
        case unreachable:
            assert_never(unreachable)
