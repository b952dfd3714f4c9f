"""Sections, tables, charts and documents as values for all renderers."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.padding import Padding
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
    others of its section. ``links`` are relative addresses of a page for each row, empty for none;
    HTML has them in the first column.
    """

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    names: int
    words: int = 0
    links: Sequence[str] = ()

    def is_number(self, place: int) -> bool:
        """Whether the column holds numbers."""
        return self.names <= place < len(self.heads) - self.words


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
class FittingTable:
    """A table of the columns that fit the width; a line below it names the others.

    Names wrap between their parts, heads of numbers between words. Columns of words stay, and
    columns of numbers are left out from the last on.
    """

    title: str
    shown: TextTable

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        title = ": ".join(filter(None, (self.title, self.shown.title)))
        places = self._fitting(options.max_width)
        yield _text_table(title, self.shown, places)
        left_out = [h for index, h in enumerate(self.shown.heads) if index not in places]
        if left_out:
            text = f"not shown at {options.max_width} columns: {', '.join(left_out)}"
            yield Padding(Text(text, style="dim"), (0, 1, 1, 1))

    def _fitting(self, width: int) -> list[int]:
        """Return the places of the columns that fit, at least one beyond the names."""
        shown = self.shown
        every = range(len(shown.heads))
        numbers = [place for place in every if shown.is_number(place)]
        room = width - _GAP - sum(self._width(place) for place in every if place not in numbers)
        fitting: list[int] = []
        for place in numbers:
            room -= self._width(place)
            if room >= 0 or (not fitting and not shown.words):
                fitting.append(place)
            else:
                break
        return [place for place in every if place not in numbers or place in fitting]

    def _width(self, place: int) -> int:
        """Return the least width of a column, with its gap."""
        return _GAP + _least_width(self.shown, place)


def _least_width(shown: TextTable, place: int) -> int:
    """Return the width of the widest part of a column that does not wrap."""
    cells = [row[place] for row in shown.rows]
    if not shown.is_number(place):
        if place >= shown.names:
            return min(_WORDS, max(map(cell_len, (shown.heads[place], *cells))))
        cells = [part for cell in cells for part in cell.split()]
    return max(map(cell_len, (*shown.heads[place].split(), *cells)), default=0)


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
        least = _least_width(shown, place)
        head = shown.heads[place]
        if is_number:
            head = textwrap.fill(head, max(1, least), break_long_words=False)
        table.add_column(
            Text(head),
            justify=justify,
            min_width=least if is_number else None,
            no_wrap=is_number,
            overflow="fold",
        )
    for row in shown.rows:
        table.add_row(*(Text(row[place]) for place in places))
    return table


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
class ColouredCell:
    """A number as text, and the colour behind it as CSS; both empty where there is no part."""

    text: str
    shade: str


@dataclass(frozen=True)
class HeatMap:
    """One configuration's cells, or their changes: a row a file size, a column a record size."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ColouredCell, ...]], ...]


@dataclass(frozen=True)
class OperationMaps:
    """All maps of one operation: the configurations' own, then their changes."""

    name: str
    maps: tuple[HeatMap, ...]


@dataclass(frozen=True)
class Section:
    """Charts, tables and notes on one topic.

    ``name`` is its address in the page: lower-case letters, digits and hyphens. ``leading_tables``
    precede the charts. ``folded`` tables are long or rarely needed; renderers may fold them.
    ``draw`` makes the charts, which takes long; only renderers that show charts call it. ``shade``
    makes the heat maps that stand for the tables in a page.
    """

    name: str
    title: str
    notes: tuple[str, ...] = ()
    leading_tables: tuple[TextTable, ...] = ()
    tables: tuple[TextTable, ...] = ()
    folded: tuple[TextTable, ...] = ()
    draw: Callable[[], Iterable[Chart]] = tuple
    shade: Callable[[], tuple[OperationMaps, ...]] = tuple

    @property
    def charts(self) -> tuple[Chart, ...]:
        """The charts, drawn anew."""
        return tuple(self.draw())


@dataclass(frozen=True)
class Listing:
    """A verbatim text; ``language`` selects its highlighting."""

    title: str
    text: str
    language: str


@dataclass(frozen=True)
class Document:
    """A document other than a report: notes first, then sections."""

    title: str
    notes: tuple[str, ...]
    sections: tuple[Section, ...]
    listing: Listing | None = None
