"""``iostudy report``: print the report of an output folder, or published figures."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, assert_never

import typer

from iostudy.cli.arguments import UnsafeFolders, usage_error
from iostudy.cli.console import print_text, print_utf8
from iostudy.errors import UsageError


class ReportFormat(StrEnum):
    """Output format of a report."""

    HTML = "html"
    MARKDOWN = "markdown"
    JSON = "json"
    TERMINAL = "terminal"
    CSV = "csv"


def report(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="An output folder of `run`.")
    ] = None,
    form: Annotated[
        ReportFormat, typer.Option("--format", help="Output format.")
    ] = ReportFormat.TERMINAL,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Published figures to compare with the study, or to print alone without DIR.",
            show_default="what the study names",
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Also write every figure to this folder, as SVG and PNG."
        ),
    ] = None,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Print the report of a study, or published figures.

    The study may be unfinished.
    """
    if reference is not None:
        reference = require_reference(reference, "--reference")
    if folder is not None:
        _print_study(folder, form, reference, figures, unsafe_folders=unsafe_folders)
    elif reference is not None and figures is None:
        _print_reference(reference, form)
    else:
        raise usage_error(
            "a study, or published figures",
            "neither DIR nor --reference" if figures is None else "--figures without DIR",
            "give an output folder of `iostudy run`, or --reference NAME, or both",
        )


def require_reference(name: str, where: str) -> str:
    """Return the name of published figures; UsageError for an unknown one."""
    from iostudy.study.names import UnknownNameError
    from iostudy.study.reference import require_name

    try:
        return require_name(name)
    except UnknownNameError as error:
        raise UsageError(
            "published figures",
            found=error.found,
            where=where,
            remedy=f"use one of {error.allowed}",
        ) from error


def _print_study(
    folder: Path,
    form: ReportFormat,
    reference: str | None,
    figures: Path | None,
    *,
    unsafe_folders: bool,
) -> None:
    # Imported here: statistics take half a second to load, and so do charts, which only HTML has.
    from iostudy.cli.report_output import print_terminal, read_report, write_figures
    from iostudy.report.render import csv_, json_, markdown

    content = read_report(folder, reference)
    if figures is not None:
        write_figures(content, figures, unsafe_folders=unsafe_folders)
    match form:
        case ReportFormat.HTML:
            from iostudy.report.render import html

            print_utf8(html.render(content) + "\n")
        case ReportFormat.MARKDOWN:
            print_text(markdown.render(content) + "\n")
        case ReportFormat.JSON:
            print_utf8(json_.render(content))
        case ReportFormat.TERMINAL:
            print_terminal(content)
        case ReportFormat.CSV if content.switchback:
            raise UsageError(
                "a study of whole trials, with a row for each run",
                found="windows of one run",
                where=str(folder),
                remedy="use --format json",
            )
        case ReportFormat.CSV:
            print_utf8(csv_.render(content))
        case unreachable:
            assert_never(unreachable)


def _print_reference(name: str, form: ReportFormat) -> None:
    from iostudy.cli.report_output import print_document
    from iostudy.report.render import json_, markdown
    from iostudy.report.topics.reference import (
        PublicationReport,
        build_publication,
        build_reference_document,
    )

    content = build_publication(name)
    match form:
        case ReportFormat.HTML | ReportFormat.CSV:
            raise usage_error(
                "published figures without a study",
                f"--format {form}, which is of a study",
                "name an output folder, too, or use another format",
            )
        case ReportFormat.MARKDOWN:
            print_text(markdown.render_document(build_reference_document(content)))
        case ReportFormat.JSON:
            print_utf8(json_.render(PublicationReport(published=content)))
        case ReportFormat.TERMINAL:
            print_document(build_reference_document(content))
        case unreachable:
            assert_never(unreachable)
