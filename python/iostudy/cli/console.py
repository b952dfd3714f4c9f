"""Where the command line prints: data on stdout, progress and errors on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def say(text: str) -> None:
    """A line of progress. Markup in it is text."""
    err.print(text, markup=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON document, and nothing else, on stdout."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
    sys.stdout.flush()


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout; cells are text, whatever they hold."""
    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(_plain(cell) for cell in row))
    out.print(table)


def print_fields(fields: Mapping[str, str]) -> None:
    """Names and values below one another, on stdout."""
    print_table("", ("", ""), [*fields.items()])


def _plain(cell: str) -> str:
    return cell.replace("[", r"\[")
