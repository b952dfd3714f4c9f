"""``iostudy report``: tell a study again from its output folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, assert_never

import typer

from iostudy.cli.console import out
from iostudy.conduct.session import recorded_study
from iostudy.ledger.store import Ledger
from iostudy.report import html, json_, markdown, terminal
from iostudy.report.model import Report, build
from iostudy.report.write import write_all


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
    told = read_report(folder)
    match form:
        case Format.HTML:
            typer.echo(html.render(told))
        case Format.MARKDOWN:
            typer.echo(markdown.render(told))
        case Format.JSON:
            typer.echo(json_.render(told))
        case Format.TERMINAL:
            print_terminal(told)
        case unreachable:
            assert_never(unreachable)


def read_report(folder: Path) -> Report:
    """The report of what the folder's ledger holds."""
    ledger = Ledger.open(folder)
    try:
        row = ledger.study()
        return build(recorded_study(row), row, ledger.rows())
    finally:
        ledger.close()


def write_report(folder: Path) -> Report:
    """Write report.html, report.md and report.json into the folder."""
    told = read_report(folder)
    write_all(told, folder)
    return told


def print_terminal(told: Report) -> None:
    """The tables and the answer, on stdout."""
    out.print(terminal.render(told))
