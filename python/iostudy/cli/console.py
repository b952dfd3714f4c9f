"""Where the command line prints: data on stdout, progress and errors on stderr.

What is printed comes from outside as often as not: from a study file, from sysfs, from file names.
It is text, whatever it holds; control characters in it are shown and not obeyed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from iostudy.cli.signals import EndedBySignal
from iostudy.errors import RecordError
from iostudy.report.columns import FittingTable, TextTable
from iostudy.visible import visible


class _Screen(Console):
    """rich's, but for a reader that has gone, which is left to whoever prints."""

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError again: it is only called while that is handled."""
        raise  # noqa: PLE0704 - the error that rich is handling


out = _Screen(highlight=False)
err = _Screen(stderr=True, highlight=False)

# Wider than any table; off a terminal nothing is folded, so that grep finds whole lines.
_UNLIMITED = 1_000_000


@dataclass(frozen=True)
class Branch:
    """A line of a tree, and what grows from it."""

    text: str
    branches: tuple[Branch, ...] = ()


def say(text: str) -> None:
    """Progress or an error, on stderr; it may have several lines.

    Where nobody reads it, or there is no room for it, there is nobody to tell: a study goes on all
    the same, and the exit code tells of an error.
    """
    try:
        err.print(Text(visible(text, keep="\n")), soft_wrap=True)
        sys.stderr.flush()
    except OSError:
        _drop("stderr")


def print_line(text: str = "", style: str = "") -> None:
    """A line on stdout, wrapped at words on a terminal."""
    with _to_its_end():
        out.print(Text(visible(text), style=style), soft_wrap=not out.is_terminal)


def print_command(command: str) -> None:
    """A command on a line of its own, which is never folded, so that it can be copied."""
    with _to_its_end():
        out.print(Text(f"  $ {visible(command)}"), soft_wrap=True)


def print_text(text: str) -> None:
    """A text on stdout as it is."""
    with _to_its_end():
        sys.stdout.write(text)


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
        _print_whole(_grown(Tree(Text(visible(branch.text))), branch))


def print_numbers(table: TextTable) -> None:
    """A table of numbers on stdout; columns that a terminal has no room for stand below."""
    rows = [tuple(map(visible, row)) for row in table.rows]
    heads = tuple(map(visible, table.heads))
    shown = replace(table, title=visible(table.title), heads=heads, rows=rows)
    with _to_its_end():
        out.print(FittingTable("", shown), width=None if out.is_terminal else _UNLIMITED)


def _grown(tree: Tree, branch: Branch) -> Tree:
    for each in branch.branches:
        _grown(tree.add(Text(visible(each.text))), each)
    return tree


def _print_whole(renderable: Table | Tree) -> None:
    """Folded to fit a terminal; off a terminal as wide as it is."""
    screen = out
    if not out.is_terminal:
        options = out.options.update(max_width=_UNLIMITED)
        width = Measurement.get(out, options, renderable).maximum
        screen = _Screen(file=out.file, highlight=False, width=width)
    with _to_its_end():
        screen.print(renderable)


def print_json(value: Any) -> None:
    """One JSON document, and nothing else, on stdout; in ASCII, which every reader takes."""
    print_text(json.dumps(value, indent=2) + "\n")


def stand_in_for_closed() -> None:
    """Open what is closed of stdin, stdout and stderr (`>&-`), lest a file of ours get its number.

    To print on stdout fails then as it would have; what goes to stderr is dropped.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # open(2) takes the lowest number that is free: this one, as those below are taken.
            os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_RDWR)
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", closefd=False))


@contextmanager
def _to_its_end() -> Iterator[None]:
    """What is printed meanwhile has left this process at the end; RecordError if it could not.

    Where its reader has gone (`iostudy ... | head`) the command ends as SIGPIPE would end it, and
    not by BrokenPipeError, which typer takes for one of its own and exits with 1.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError as error:
        _drop("stdout")
        raise EndedBySignal(signal.SIGPIPE) from error
    except OSError as error:
        _drop("stdout")
        raise RecordError(
            "to print what was asked for",
            found=error.strerror or str(error),
            where="stdout",
            remedy="open stdout, or make room where it goes to, and run the command again",
        ) from error


def _drop(stream: str) -> None:
    """What is left in the buffer is not tried again when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), getattr(sys, stream).fileno())
