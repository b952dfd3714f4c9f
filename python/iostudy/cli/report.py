"""``iostudy report``: tell a study again from its output folder, or what others have published."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, assert_never

import typer

from iostudy.cli.arguments import UnsafeFolders
from iostudy.cli.console import print_text, print_utf8
from iostudy.errors import UsageError


class Format(StrEnum):
    """How a report can be told."""

    HTML = "html"
    MARKDOWN = "markdown"
    JSON = "json"
    TERMINAL = "terminal"


def report(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="An output folder of `run`.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to tell it.")] = Format.TERMINAL,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Published figures to show beside the study's own, or alone without DIR.",
            show_default="what the study names",
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write every figure there too, as SVG and PNG."),
    ] = None,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Print the report of a study, finished or not, or what others have published, on stdout."""
    if reference is not None:
        reference = _known(reference)
    if folder is not None:
        _tell_study(folder, form, reference, figures, unsafe_folders=unsafe_folders)
    elif reference is not None and figures is None:
        _tell_reference(reference, form)
    else:
        raise UsageError(
            "a study, or published figures",
            found="neither DIR nor --reference" if figures is None else "--figures without DIR",
            where="the command line",
            remedy="give an output folder of `iostudy run`, or --reference NAME, or both",
        )


def _known(name: str) -> str:
    from iostudy.study.names import UnknownNameError
    from iostudy.study.reference import known_name

    try:
        return known_name(name)
    except UnknownNameError as error:
        raise UsageError(
            "figures that others have published",
            found=error.found,
            where="--reference",
            remedy=f"take one of {error.allowed}",
        ) from error


def _tell_study(
    folder: Path,
    form: Format,
    reference: str | None,
    figures: Path | None,
    *,
    unsafe_folders: bool,
) -> None:
    # Here and not above: statistics and charts take most of a second to load.
    from iostudy.cli.report_output import print_terminal, read_report, write_figures
    from iostudy.report import html, json_, markdown

    told = read_report(folder, reference)
    if figures is not None:
        write_figures(told, figures, unsafe_folders=unsafe_folders)
    match form:
        case Format.HTML:
            print_utf8(html.render(told) + "\n")
        case Format.MARKDOWN:
            print_text(markdown.render(told) + "\n")
        case Format.JSON:
            print_utf8(json_.render(told))
        case Format.TERMINAL:
            print_terminal(told)
        case unreachable:
            assert_never(unreachable)


def _tell_reference(name: str, form: Format) -> None:
    from iostudy.cli.report_output import print_document
    from iostudy.report import json_, markdown, reference, reference_sections
    from iostudy.report.values.reference import PublicationTold

    told = reference.alone(name)
    match form:
        case Format.HTML:
            raise UsageError(
                "published figures alone",
                found="--format html, which is the page of a study",
                where="the command line",
                remedy="name an output folder, too, or take another format",
            )
        case Format.MARKDOWN:
            print_text(markdown.document(reference_sections.document(told)))
        case Format.JSON:
            print_utf8(json_.render(PublicationTold(published=told)))
        case Format.TERMINAL:
            print_document(reference_sections.document(told))
        case unreachable:
            assert_never(unreachable)
