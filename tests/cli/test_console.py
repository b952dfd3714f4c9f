"""Tests of console output: control characters, markup, line folding and encoding."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from iostudy.cli import console

# What turns a terminal's colour, title, line and direction; half a character; a line separator.
HOSTILE = "a\x1b[31mb\x9b2Jc\rd\x07e\u202ef\udcffg\u2028h"
SHOWN = r"a\x1b[31mb\x9b2Jc\rd\x07e\u202ef\udcffg\u2028h"


@pytest.fixture(params=[True, False], ids=["terminal", "pipe"])
def screen(request, monkeypatch) -> Console:
    screen = Console(file=io.StringIO(), force_terminal=request.param, width=80, color_system=None)
    monkeypatch.setattr(console, "out", screen)
    monkeypatch.setattr(console, "err", screen)
    return screen


@pytest.mark.parametrize(
    "show",
    [
        console.say,
        console.print_line,
        console.print_command,
        lambda text: console.print_table(("", ""), [(text, "")]),
        lambda text: console.print_tree([console.Branch("top", (console.Branch(text),))]),
    ],
)
def test_control_characters_are_escaped(screen, show):
    show(HOSTILE)
    assert SHOWN in screen.file.getvalue()


@pytest.mark.parametrize("cell", [r"a\[bold]x", "[bold]x[/bold]", "[/]", r"a\\", ":smile:"])
def test_markup_is_printed_literally(screen, cell):
    console.print_table(("",), [(cell,)])
    console.say(cell)
    console.print_line(cell)
    assert screen.file.getvalue().count(cell) == 3


def test_line_breaks_of_an_error_are_kept(screen):
    console.say("iostudy: wrong\n  remedy: right")
    assert screen.file.getvalue().splitlines() == ["iostudy: wrong", "  remedy: right"]


def test_nothing_is_folded_off_a_terminal(screen):
    long = " ".join(["word"] * 100)
    console.print_line(long)
    console.print_table(("", ""), [("name", long)])
    lines = screen.file.getvalue().splitlines()
    if screen.is_terminal:
        assert max(map(len, lines)) <= 80
    else:
        assert sum(long in line for line in lines) == 2


def test_lines_of_a_table_have_no_trailing_spaces_off_a_terminal(screen):
    if not screen.is_terminal:
        console.print_table(("name", "value"), [("long name", "value"), ("name", "v")])
        lines = screen.file.getvalue().splitlines()
        assert len(lines) == 3
        assert [line.rstrip() for line in lines] == lines


def test_lines_of_a_report_have_no_trailing_spaces_off_a_terminal(screen):
    console.print_renderable(Padding(Text("word " * 40), (0, 1)))
    lines = screen.file.getvalue().splitlines()
    assert len(lines) == 3
    assert ([line.rstrip() for line in lines] == lines) == (not screen.is_terminal)


def test_json_is_ascii(capsys):
    console.print_json({HOSTILE: "ü"})
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert json.loads(printed) == {HOSTILE: "ü"}


def test_a_tree_is_folded_on_a_terminal_only(screen):
    long = " ".join(["word"] * 40)
    console.print_tree([console.Branch("top", (console.Branch(long),)), console.Branch("other")])
    lines = screen.file.getvalue().splitlines()
    assert (max(map(len, lines)) <= 80) == screen.is_terminal
    assert len(lines) == 3 or screen.is_terminal
    assert lines[-1].rstrip() == "other"


def test_a_command_is_never_folded(screen):
    command = " ".join(["word"] * 40)
    console.print_command(command)
    assert screen.file.getvalue() == f"  $ {command}\n"
