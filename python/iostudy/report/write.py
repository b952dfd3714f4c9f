"""Writes all forms of a report into a folder, each whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from iostudy.report import html, json_, markdown
from iostudy.report.values import Report

RENDERERS = {
    "report.html": html.render,
    "report.md": markdown.render,
    "report.json": json_.render,
}


def write_all(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write report.html, report.md and report.json; their paths. OSError as it comes."""
    texts = {folder / name: render(report) for name, render in RENDERERS.items()}
    for path, text in texts.items():
        _write(path, text)
    return tuple(texts)


def _write(path: Path, text: str) -> None:
    """Into a file beside it that then takes its name: a reader sees the old one or the new one."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(0o644)  # mkstemp's own mode would keep a report from everyone but its owner
        beside.replace(path)
    except BaseException:
        beside.unlink()
        raise
