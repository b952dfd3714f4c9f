"""``iostudy report``: tell a study again from its output folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, assert_never

import typer

from iostudy.cli.console import print_text


class Format(StrEnum):
    """How a report can be told."""

    HTML = "html"
    MARKDOWN = "markdown"
    JSON = "json"
    TERMINAL = "terminal"


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="An output folder of `run`.")],
    form: Annotated[Format, typer.Option("--format", help="How to tell it.")] = Format.TERMINAL,
) -> None:
    """Print the report of a study, finished or not, on stdout."""
    # Here and not above: statistics and charts take most of a second to load.
    from iostudy.cli.tell import print_terminal, read_report
    from iostudy.report import html, json_, markdown

    told = read_report(folder)
    match form:
        case Format.HTML:
            print_text(html.render(told) + "\n")
        case Format.MARKDOWN:
            print_text(markdown.render(told) + "\n")
        case Format.JSON:
            print_text(json_.render(told))
        case Format.TERMINAL:
            print_terminal(told)
        case unreachable:
            assert_never(unreachable)
