"""``iostudy schema``: the JSON Schema of study files."""

from __future__ import annotations

from iostudy.cli.console import print_text
from iostudy.study.json_schema import as_text


def schema() -> None:
    """Print the JSON Schema of study files, for completion and hover in an editor."""
    print_text(as_text())
