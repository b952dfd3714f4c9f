"""``iostudy report``: tell a study again from its output folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, assert_never

import typer


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
            typer.echo(html.render(told))
        case Format.MARKDOWN:
            typer.echo(markdown.render(told))
        case Format.JSON:
            typer.echo(json_.render(told), nl=False)
        case Format.TERMINAL:
            print_terminal(told)
        case unreachable:
            assert_never(unreachable)
