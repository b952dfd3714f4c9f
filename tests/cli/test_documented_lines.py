"""docs/try.md says how many lines commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from iostudy.report.answer import LINES
from tests.cli.program import Program

PAGE = Path(__file__).parents[2] / "docs/try.md"
ROWS = re.findall(r"^\| `(.+?)`.* \| (\d+) \| (\d+) \|$", PAGE.read_text(), re.MULTILINE)
CHECKS = [row for row in ROWS if row[0].startswith("check ")]


@pytest.mark.process
@pytest.mark.root
@pytest.mark.exclusive("host")
@pytest.mark.parametrize(("command", "whole", "screen"), CHECKS)
def test_a_check_prints_the_lines_of_the_page(
    program: Program, command: str, whole: str, screen: str
) -> None:
    printed = [program(*command.split(), *more).stdout for more in (("--full",), ())]
    assert [len(text.splitlines()) for text in printed] == [int(whole), int(screen)]


def test_every_screen_of_the_page_fits() -> None:
    assert len(ROWS) > len(CHECKS) > 0
    assert all(int(screen) <= LINES for _, _, screen in ROWS)
