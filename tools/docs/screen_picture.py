"""The picture ``docs/answer.svg``: a recorded answer of a study, as the program draws it today.

``python -m tools.docs.screen_picture FOLDER COMMAND`` records the answer of the study in FOLDER,
which COMMAND has printed. The picture names no font of a server, so that it needs no network.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from pydantic import TypeAdapter
from rich.console import Console

from iostudy.cli.report_output import read_report
from iostudy.report.answer import COLUMNS, Answer, build_answer, lay_out

_FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix, .{unique_id}-title {{
font: {char_height}px "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre }}
.{unique_id}-title {{ font-size: 16px }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g></svg>
"""


@dataclass(frozen=True)
class Screen:
    """An answer, and the command that printed it."""

    command: str
    answer: Answer


_RECORD = Path(__file__).with_name("answer.json")
_SCREENS = TypeAdapter(Screen)


def render_picture() -> str:
    """Return the screen as SVG."""
    screen = _SCREENS.validate_json(_RECORD.read_bytes())
    console = Console(width=COLUMNS, file=StringIO(), record=True, force_terminal=True)
    console.print(*lay_out(screen.answer), sep="\n", soft_wrap=True)
    return console.export_svg(title=screen.command, code_format=_FORMAT, unique_id="answer")


def main(folder: str, command: str) -> None:
    """Record the answer of a finished study."""
    answer = build_answer(read_report(Path(folder)), Path(folder))
    _RECORD.write_bytes(_SCREENS.dump_json(Screen(command, answer), indent=1) + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
