"""Printing of the report on a fleet."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from iostudy.cli.console import print_text, print_utf8


class FleetFormat(StrEnum):
    """Output format of the report on a fleet."""

    HTML = "html"
    MARKDOWN = "markdown"
    JSON = "json"
    TERMINAL = "terminal"


def print_fleet_report(folders: Sequence[Path], missing: Sequence[str], form: FleetFormat) -> None:
    """Pool the studies of the folders; print their report.

    ``missing`` says of each node without complete results why.
    """
    # Imported here: statistics and charts take most of a second to load.
    from iostudy.cli.report_output import print_document, read_recorded
    from iostudy.report.documents.fleet.build import build_fleet_report
    from iostudy.report.documents.fleet.document import build_fleet_document
    from iostudy.report.render import html, json_, markdown

    content = build_fleet_report([read_recorded(folder) for folder in folders], missing)
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
