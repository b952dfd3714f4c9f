"""Atomic writing of all forms of a report into a folder."""

from __future__ import annotations

from pathlib import Path

from iostudy.durable import write_whole
from iostudy.report.render import html, json_, markdown
from iostudy.report.values import Report

RENDERERS = {
    "report.html": html.render,
    "report.md": markdown.render,
    "report.json": json_.render,
}


def write_report_files(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write report.html, report.md and report.json; their paths. OSError as it comes."""
    # One after the other: of thousands of trials each is of tens of megabytes.
    for name, render in RENDERERS.items():
        write_whole(folder / name, render(report).encode())
    return tuple(folder / name for name in RENDERERS)
