"""Sections, tables, charts and documents as values for all renderers."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from iostudy.visible import visible

_WORDS = 16
"""The least width of a column of words."""
_GAP = 2
"""Between two columns, and before the first."""


@dataclass(frozen=True)
class TextTable:
    """Heads and rows; the first ``names`` columns identify a row, the others are numbers.

    The last ``words`` columns are texts that may wrap. A terminal shows the columns that fit its
    width, and a line below names the others: columns of words stay, and columns of numbers are left
    out from the last on. The title distinguishes the table from
    others of its section. ``links`` are relative addresses of a page for each row, empty for none;
    HTML has them in the first column. ``shades`` are the colours behind the numbers of each row as
    CSS, empty for none.
    """

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    names: int
    words: int = 0
    links: Sequence[str] = ()
    shades: Sequence[tuple[str, ...]] = ()

    def is_number(self, place: int) -> bool:
        """Whether the column holds numbers."""
        return self.names <= place < len(self.heads) - self.words

    def make_visible(self) -> TextTable:
        """Return the table without control characters, which a terminal would obey."""
        rows = [tuple(map(visible, row)) for row in self.rows]
        heads = tuple(map(visible, self.heads))
        return replace(self, title=visible(self.title), heads=heads, rows=rows)

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        places = self._list_fitting(options.max_width)
        table = Table(
            title=Text(self.title, style="bold"),
            title_justify="left",
            box=box.SIMPLE_HEAD,
            pad_edge=False,
            collapse_padding=True,
        )
        for place in places:
            is_number, least = self.is_number(place), self._least_width(place)
            head = self.heads[place]
            if is_number:
                head = textwrap.fill(head, max(1, least), break_long_words=False)
            table.add_column(
                Text(head),
                justify="right" if is_number else "left",
                min_width=least if is_number else None,
                no_wrap=is_number,
                overflow="fold",
            )
        for row in self.rows:
            table.add_row(*(Text(row[place]) for place in places))
        yield table
        left_out = [head for place, head in enumerate(self.heads) if place not in places]
        if left_out:
            text = f"not shown at {options.max_width} columns: {', '.join(left_out)}"
            yield Padding(Text(text, style="dim"), (0, 1, 1, 1))

    def _list_fitting(self, width: int) -> list[int]:
        """Return the places of the columns that fit, at least one beyond the names."""
        widths = {place: _GAP + self._least_width(place) for place in range(len(self.heads))}
        fitting = [place for place in widths if not self.is_number(place)]
        room = width - _GAP - sum(widths[place] for place in fitting)
        needs_number = not self.words
        for place in filter(self.is_number, widths):
            room -= widths[place]
            if room < 0 and not needs_number:
                break
            needs_number = False
            fitting.append(place)
        return sorted(fitting)

    def _least_width(self, place: int) -> int:
        """Return the width of the widest part of a column that does not wrap.

        Names wrap between their parts, heads of numbers between words.
        """
        cells = [row[place] for row in self.rows]
        if not self.is_number(place):
            if place >= self.names:
                return min(_WORDS, max(map(cell_len, (self.heads[place], *cells))))
            cells = [part for cell in cells for part in cell.split()]
        return max(map(cell_len, (*self.heads[place].split(), *cells)), default=0)


Row = Mapping[str, object] | Sequence[tuple[str, object]]
"""A row of a table: its cells by their heads, as pairs if labels of a study are among the heads."""


def make_table(
    rows: Iterable[Row], title: str = "", *, names: int = 1, words: int = 0
) -> TextTable:
    """Return a table of rows that name the head of each cell; without rows it has no heads."""
    pairs = [tuple(row.items() if isinstance(row, Mapping) else row) for row in rows]
    heads = tuple(head for head, _ in pairs[0]) if pairs else ()
    cells = [tuple(str(cell) for _, cell in row) for row in pairs]
    return TextTable(title, heads, cells, names, words)


@dataclass(frozen=True)
class Chart:
    """A chart: its Vega-Lite specification, and its content in words.

    ``alternative`` describes it for those who cannot see it; ``legend`` explains it (may be
    empty). ``name`` begins the names of its files; by default it is that of the section.
    """

    spec: dict[str, Any]
    alternative: str
    legend: str
    name: str = ""


@dataclass(frozen=True)
class Section:
    """Charts, tables and notes on one topic.

    ``name`` is its address in the page: lower-case letters, digits and hyphens. ``leading_tables``
    precede the charts. ``folded`` tables are long or rarely needed; renderers may fold them.
    ``draw`` makes the charts, which takes long; only renderers that show charts call it.
    """

    name: str
    title: str
    notes: Sequence[str] = ()
    leading_tables: Sequence[TextTable] = ()
    tables: Sequence[TextTable] = ()
    folded: Sequence[TextTable] = ()
    draw: Callable[[], Iterable[Chart]] = tuple

    @property
    def charts(self) -> tuple[Chart, ...]:
        """The charts, drawn anew."""
        return tuple(self.draw())


DIFFERENCE_TITLE = "Differences between the study files"


@dataclass(frozen=True)
class Document:
    """A document other than a report: notes first, then sections.

    ``difference`` is a unified diff of two study files; empty without one.
    """

    title: str
    notes: Sequence[str]
    sections: Sequence[Section]
    difference: str = ""
