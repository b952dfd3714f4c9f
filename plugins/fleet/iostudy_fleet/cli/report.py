"""Printing and writing of the report on a fleet."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, assert_never
from urllib.parse import quote

from iostudy.cli.console import print_text, print_utf8
from iostudy.durable import write_whole
from iostudy.folders import FLEET_PAGE

if TYPE_CHECKING:
    from iostudy_fleet.report.values import FleetReport


class FleetFormat(StrEnum):
    """Output format of the report on a fleet."""

    HTML = "html"
    MARKDOWN = "markdown"
    JSON = "json"
    TERMINAL = "terminal"


NOFLEET_PAGES: Mapping[str, str] = {}


# Imported in functions: statistics and charts take most of a second to load.
def pool_studies(folders: Sequence[Path], missing: Sequence[str]) -> FleetReport:
    """Pool the studies of the folders; ``missing`` says why nodes have no complete results."""
    from iostudy.cli.report_output import read_recorded
    from iostudy_fleet.report.build import build_fleet_report

    return build_fleet_report([read_recorded(folder) for folder in folders], missing)


def print_fleet_report(report: FleetReport, form: FleetFormat) -> None:
    """Print the report in this format."""
    from iostudy.cli.report_output import print_document
    from iostudy.report.render import json_, markdown
    from iostudy_fleet.report.document import build_fleet_document

    match form:
        case FleetFormat.HTML:
            print_utf8(_render_page(report, Path()) + "\n")
        case FleetFormat.MARKDOWN:
            print_text(markdown.render_document(build_fleet_document(report, NOFLEET_PAGES)))
        case FleetFormat.JSON:
            print_utf8(json_.render(report))
        case FleetFormat.TERMINAL:
            print_document(build_fleet_document(report, NOFLEET_PAGES))
        case unreachable:
            assert_never(unreachable)


def write_fleet_page(report: FleetReport, folder: Path) -> Path:
    """Write the page with links to the nodes' own reports; RecordError if that fails."""
    from iostudy.cli.report_output import explaining_failed_write

    path = folder / FLEET_PAGE
    again = shlex.join(["iostudy", "fleet", "report", str(folder)])
    with explaining_failed_write(folder, again):
        write_whole(path, _render_page(report, folder).encode())
    return path


def _render_page(report: FleetReport, base: Path) -> str:
    """The page, with links that are relative to the folder ``base``."""
    from iostudy.report.render import html
    from iostudy_fleet.report.document import build_fleet_document

    links = {node.node: Path(node.place) / FLEET_PAGE for node in report.nodes}
    pages = {
        name: quote(os.path.relpath(page, base)) for name, page in links.items() if page.exists()
    }
    document = build_fleet_document(report, pages)
    return html.render_page(f"iostudy fleet · {report.name}", document)
