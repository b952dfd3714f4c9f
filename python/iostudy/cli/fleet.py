"""``iostudy fleet``: one study on several nodes."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Annotated, assert_never

import typer

from iostudy.cli.console import print_text, print_utf8
from iostudy.errors import UsageError

app = typer.Typer(
    name="fleet",
    help="Pool the results of one study on several nodes.",
    add_completion=False,
    rich_markup_mode=None,
)


class FleetFormat(StrEnum):
    """Output format of the report on a fleet."""

    HTML = "html"
    MARKDOWN = "markdown"
    JSON = "json"
    TERMINAL = "terminal"


@app.callback()
def fleet() -> None:
    """Pool the results of one study on several nodes."""


@app.command()
def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Output folders of `run`, one a node.")
    ],
    form: Annotated[
        FleetFormat, typer.Option("--format", help="Output format.")
    ] = FleetFormat.TERMINAL,
) -> None:
    """Print the mean over nodes, the differences between nodes, and odd nodes.

    All folders must have the same study; devices and folders of its target may differ.
    """
    # Imported here: statistics and charts take most of a second to load.
    from iostudy.cli.report_output import print_document, read_recorded
    from iostudy.report.documents.fleet.build import build_fleet_report
    from iostudy.report.documents.fleet.document import build_fleet_document
    from iostudy.report.render import html, json_, markdown

    _refuse_repeated(folders)
    content = build_fleet_report([read_recorded(folder) for folder in folders])
    document = build_fleet_document(content)
    match form:
        case FleetFormat.HTML:
            print_utf8(html.render_page(f"iostudy fleet · {content.name}", document) + "\n")
        case FleetFormat.MARKDOWN:
            print_text(markdown.render_document(document))
        case FleetFormat.JSON:
            print_utf8(json_.render(content))
        case FleetFormat.TERMINAL:
            print_document(document)
        case unreachable:
            assert_never(unreachable)


def _refuse_repeated(folders: list[Path]) -> None:
    counts = Counter(folder.resolve() for folder in folders)
    for folder in folders:
        if counts[folder.resolve()] > 1:
            raise UsageError(
                "an output folder for each node",
                found=f"{folder} twice",
                where="the command line",
                remedy="give each folder once",
            )
