"""``iostudy compare``: two studies beside each other."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, assert_never

import typer

from iostudy.cli.console import print_text, print_utf8
from iostudy.errors import UsageError


class Format(StrEnum):
    """How a comparison can be told."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"


def compare(
    first: Annotated[Path, typer.Argument(metavar="DIR_A", help="An output folder of `run`.")],
    second: Annotated[Path, typer.Argument(metavar="DIR_B", help="Another one.")],
    configuration: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL[=LABEL]",
            help="Which to compare, by its label in DIR_A (and in DIR_B, if another).",
            show_default="the baselines, and all of the same label",
        ),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to tell it.")] = Format.TERMINAL,
) -> None:
    """Compare two studies, of two days or two hosts, without pairs; name all that differs."""
    # Here and not above: statistics take most of a second to load.
    from iostudy.cli.report_output import print_document, read_recorded
    from iostudy.report import comparison, comparison_sections, json_, markdown

    if first.resolve() == second.resolve():
        raise UsageError(
            "two studies",
            found="the same folder twice",
            where=f"{first} and {second}",
            remedy="give the folder of another study; `iostudy report` tells one alone",
        )
    told = comparison.build(read_recorded(first), read_recorded(second), configuration or ())
    match form:
        case Format.JSON:
            print_utf8(json_.render(told))
        case Format.MARKDOWN:
            print_text(markdown.document(comparison_sections.document(told)))
        case Format.TERMINAL:
            print_document(comparison_sections.document(told))
        case unreachable:
            assert_never(unreachable)
