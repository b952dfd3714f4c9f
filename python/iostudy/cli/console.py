"""Output of the command line: data on stdout, progress and errors on stderr.

Texts may come from study files, sysfs or file names. Control characters in them are shown, never
interpreted.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from iostudy.report.section import TextTable
from iostudy.visible import visible

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

# Wider than any table; off a terminal nothing is folded, so that grep finds whole lines.
_UNLIMITED_WIDTH = 1_000_000


@dataclass(frozen=True)
class Branch:
    """A line of a tree, and what grows from it."""

    text: str
    branches: tuple[Branch, ...] = ()


def say(text: str) -> None:
    """Print progress or an error on stderr, with any number of lines.

    A closed stderr is ignored: a study continues, and the exit code reports errors.
    """
    err.print(Text(visible(text, keep="\n")), soft_wrap=True)
    sys.stderr.flush()


def print_line(text: str = "", style: str = "") -> None:
    """A line on stdout, wrapped at words on a terminal."""
    out.print(Text(visible(text), style=style), soft_wrap=not out.is_terminal)


def print_command(command: str) -> None:
    """A command on a line of its own, which is never folded, so that it can be copied."""
    out.print(Text(f"  $ {visible(command)}"), soft_wrap=True)


def print_text(text: str) -> None:
    """A text on stdout as it is."""
    sys.stdout.write(text)
    sys.stdout.flush()


def print_utf8(text: str) -> None:
    """Print a document on stdout whose format requires UTF-8, such as HTML and JSON (RFC 8259)."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors=sys.stdout.errors)
    print_text(text)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout, headed if any column has a name."""
    table = Table(box=None, pad_edge=False, show_header=any(columns))
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    _print_whole(table)


def print_list(rows: Sequence[tuple[str, str]]) -> None:
    """Names and what they mean on stdout, each on a line of its own, cut to fit a terminal."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    # Only this column may be made narrower; its texts are cut and not folded.
    table.add_column()
    for name, meaning in rows:
        cut = Text(visible(meaning), no_wrap=True, overflow="ellipsis")
        table.add_row(Text(visible(name)), cut)
    _print_whole(table)


def print_tree(branches: Sequence[Branch]) -> None:
    """A tree for each branch on stdout."""
    for branch in branches:
        _print_whole(_build_tree(Tree(Text(visible(branch.text))), branch))


def print_numbers(table: TextTable) -> None:
    """A table of numbers on stdout; a terminal without room for all columns names the others."""
    out.print(table.make_visible(), width=None if out.is_terminal else _UNLIMITED_WIDTH)


def _build_tree(tree: Tree, branch: Branch) -> Tree:
    for child in branch.branches:
        _build_tree(tree.add(Text(visible(child.text))), child)
    return tree


def _print_whole(renderable: Table | Tree) -> None:
    """Folded to fit a terminal; off a terminal as wide as it is."""
    options = out.options.update(max_width=_UNLIMITED_WIDTH)
    print_renderable(
        renderable, None if out.is_terminal else Measurement.get(out, options, renderable).maximum
    )


def print_renderable(renderable: RenderableType, width: int | None = None) -> None:
    """A renderable on stdout, without spaces at line ends off a terminal.

    ``width`` is that off a terminal; without one it is the console's.
    """
    if out.is_terminal:
        out.print(renderable)
        return
    screen = Console(file=out.file, highlight=False, width=width or out.width)
    with screen.capture() as printed:
        screen.print(renderable)
    out.file.writelines(f"{line.rstrip()}\n" for line in printed.get().splitlines())
    out.file.flush()


def print_json(value: Any) -> None:
    """One JSON document, and nothing else, on stdout; in ASCII, which every reader takes."""
    print_text(json.dumps(value, indent=2) + "\n")
