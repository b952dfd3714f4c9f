"""``iostudy schema``: the JSON Schema of study files."""

from __future__ import annotations

from iostudy.cli.console import print_text
from iostudy.study.json_schema import render_schema


def schema() -> None:
    """Print the JSON Schema of study files, for editors.

    Editors use it for completion and hover texts.
    """
    print_text(render_schema())
