"""Tables of text, fitted to the width of a terminal; loads nothing but rich."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

_WORDS = 16
"""The least width of a column of words."""
_GAP = 2
"""Between two columns, and before the first."""


@dataclass(frozen=True)
class TextTable:
    """Heads and rows; the first ``names`` columns identify a row, the others are numbers.

    The last ``words`` columns are texts that may wrap. The title distinguishes the table from
    others of its section.
    """

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    names: int
    words: int = 0

    def is_number(self, place: int) -> bool:
        """Whether the column holds numbers."""
        return self.names <= place < len(self.heads) - self.words


@dataclass(frozen=True)
class FittingTable:
    """A table that moves columns of numbers below when they do not fit, and repeats the names."""

    title: str
    shown: TextTable

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        names = range(self.shown.names)
        title = ": ".join(filter(None, (self.title, self.shown.title)))
        for numbers in self._fitting(options.max_width):
            yield _text_table(title, self.shown, (*names, *numbers))

    def _fitting(self, width: int) -> Iterator[list[int]]:
        """Return the columns of numbers in groups that fit the width next to the names."""
        widths = [self._width(place) + _GAP for place in range(len(self.shown.heads))]
        room = width - _GAP - sum(widths[: self.shown.names])
        group: list[int] = []
        for place in range(self.shown.names, len(widths)):
            if group and sum(widths[own] for own in (*group, place)) > room:
                yield group
                group = []
            group.append(place)
        yield group

    def _width(self, place: int) -> int:
        """The least that a column takes; words may wrap."""
        if not self.shown.is_number(place) and place >= self.shown.names:
            return _WORDS
        return max(cell_len(row[place]) for row in (self.shown.heads, *self.shown.rows))


def _text_table(title: str, shown: TextTable, places: Sequence[int]) -> Table:
    table = Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for place in places:
        is_number = shown.is_number(place)
        justify: JustifyMethod = "right" if is_number else "left"
        head = Text(shown.heads[place])
        table.add_column(head, justify=justify, no_wrap=is_number, overflow="fold")
    for row in shown.rows:
        table.add_row(*(Text(row[place]) for place in places))
    return table
