"""Table widget that draws only visible lines, and only when they change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from iostudy.visible import visible
from iostudy_watch.table import COLUMNS, DEVICE, History, Path, Row, TableView, sparkline

_BUSY_PERCENT = 90.0
_UTIL = "%util"
_DIGITS = 6
"""A figure has room for so many characters at least."""
_NARROWEST_NAME, _WIDEST_NAME = 12, 32
_NARROWEST_HISTORY, _WIDEST_HISTORY = 8, 60
_MARKS = {True: "▼", False: "▲"}


KEYS = (
    Binding("up", "move(-1)", "Device above", show=False),
    Binding("down", "move(1)", "Device below", show=False),
    Binding("pageup", "page(-1)", "A screen up", show=False),
    Binding("pagedown", "page(1)", "A screen down", show=False),
    Binding("home", "move(-1_000_000)", "First device", show=False),
    Binding("end", "move(1_000_000)", "Last device", show=False),
    Binding("left", "scroll_left", "Figures to the left", show=False),
    Binding("right", "scroll_right", "Figures to the right", show=False),
    Binding("enter", "fold", "Hide or show the members of a volume", show=False),
)


_Cell = tuple[str, str]
"""A text, and the kind of its style."""
_Line = tuple[_Cell, ...]
_PLAIN = "plain"
_KINDS = (_PLAIN, "head", "sorted", "cursor", "idle", "busy", "history")


def _digits(column: str) -> int:
    return _DIGITS + 1 if column.endswith("kB/s") else _DIGITS - column.startswith("%")


_FIGURE_WIDTHS = {column: max(len(column), _digits(column)) + 1 for column in COLUMNS}
"""Width of each column, with a leading blank."""
_ALL_FIGURES = sum(_FIGURE_WIDTHS.values())


@dataclass(frozen=True)
class _Widths:
    """Widths in cells of the columns before the figures; the history has a leading blank."""

    name: int
    history: int

    @property
    def total(self) -> int:
        return self.name + self.history + _ALL_FIGURES

    @classmethod
    def fitting(cls, rows: Sequence[Row], width: int) -> _Widths:
        """The history has what figures leave of ``width``, and some of it in any case."""
        longest = max((len(_name(row)) for row in rows), default=0) + 1
        name = min(_WIDEST_NAME, max(_NARROWEST_NAME, longest))
        left = width - name - _ALL_FIGURES
        history = min(_WIDEST_HISTORY, max(_NARROWEST_HISTORY, left, width // 4 - name))
        return cls(name, history)


class Grid(ScrollView, can_focus=True):
    """Rows with a cursor, below heads that can be clicked; names stay while figures scroll."""

    DEFAULT_CSS = """
    Grid { height: 1fr; scrollbar-color: ansi_bright_black; scrollbar-background: ansi_default; }
    Grid > .grid--plain { text-style: none; }
    Grid > .grid--head { text-style: bold underline; }
    Grid > .grid--sorted { text-style: bold reverse; }
    Grid > .grid--cursor { text-style: reverse; }
    Grid > .grid--idle { text-style: dim; }
    Grid > .grid--busy { color: $error; text-style: bold; }
    Grid > .grid--history { color: $secondary; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"grid--{kind}" for kind in _KINDS}
    BINDINGS: ClassVar = [*KEYS]

    class Sorted(Message):
        """The user clicked on the head of a column."""

        def __init__(self, column: str) -> None:
            super().__init__()
            self.column = column

    class Folded(Message):
        """The user folded or unfolded a volume."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    def __init__(self) -> None:
        self._styles: dict[str, Style] = {}
        super().__init__()
        self._rows: Sequence[Row] = ()
        self._places: dict[Path, int] = {}
        self._drawn: dict[int, _Line] = {}
        self._view, self._history = TableView(), History()
        self._scale = 0.0
        self._widths = _Widths.fitting((), 0)
        self._cursor: Path | None = None

    def notify_style_update(self) -> None:
        """Other styles from now on."""
        super().notify_style_update()
        self._styles.clear()

    def _style(self, kind: str) -> Style:
        """Kept: to work it out for every cell takes longer than all the rest."""
        if kind not in self._styles:
            style = self.get_component_rich_style(f"grid--{kind}", partial=True)
            self._styles[kind] = self.rich_style + style
        return self._styles[kind]

    @property
    def cursor(self) -> int:
        """The row of the cursor, which follows its device when rows are sorted."""
        return self._places.get(self._cursor, 0) if self._cursor else 0

    def show(self, rows: Sequence[Row], view: TableView, history: History) -> None:
        """Draw these from now on; what is drawn already stays, as most devices are idle."""
        self._rows, self._view, self._history = rows, view, history
        self._places = {row.path: index for index, row in enumerate(rows)}
        self._scale = history.scale(view.history_of)
        self._measure()
        changed = [y for y, line in self._drawn.items() if line != self._line(y)]
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def _measure(self) -> None:
        self._widths = _Widths.fitting(self._rows, self.scrollable_size.width)
        self.virtual_size = Size(self._widths.total, len(self._rows) + 1)

    def render_line(self, y: int) -> Strip:
        """The heads, then the rows that have been scrolled to."""
        line = self._drawn[y] = self._line(y)
        width, plain = self.scrollable_size.width, self._style(_PLAIN)
        if not line:
            return Strip.blank(width, plain)
        name, *others = (Segment(text, self._style(kind)) for text, kind in line)
        begin, room = round(self.scroll_x), width - self._widths.name
        return Strip([name, *Strip(others).crop_extend(begin, begin + room, plain)])

    def _line(self, y: int) -> _Line:
        """Render a line: a fixed name and scrolling figures, or an empty line."""
        index = y - 1 + round(self.scroll_y)
        if y == 0:
            return tuple(self._heads())
        if index < len(self._rows):
            return tuple(self._cells(self._rows[index], is_cursor=index == self.cursor))
        return ()

    def _heads(self) -> Iterator[_Cell]:
        yield self._head(DEVICE, self._widths.name, left=True)
        title = f" {self._view.history_of}"[: self._widths.history]
        yield title.ljust(self._widths.history), "head"
        for column, width in _FIGURE_WIDTHS.items():
            yield self._head(column, width)

    def _head(self, column: str, width: int, *, left: bool = False) -> _Cell:
        if column != self._view.sorted_by:
            text, kind = column, "head"
        else:
            mark = _MARKS[self._view.descending]
            text, kind = (column + mark if left else mark + column), "sorted"
        return (text.ljust(width) if left else text.rjust(width)), kind

    def _cells(self, row: Row, *, is_cursor: bool) -> Iterator[_Cell]:
        widths, under = self._widths, "cursor" if is_cursor and self.has_focus else ""
        name = _name(row)
        cut = name if len(name) < widths.name else f"{name[: widths.name - 2]}…"
        yield cut.ljust(widths.name), under or _PLAIN
        yield " ", under or _PLAIN
        of = self._view.history_of
        past = self._history.last_values(row.device.name, of, widths.history - 1)
        yield sparkline(past, self._scale, widths.history - 1), "history"
        yield from _figure_cells(tuple(map(row.figures.get, COLUMNS)), under)

    def on_resize(self, _: Resize) -> None:
        """Give the history what room there is."""
        self._measure()

    def on_click(self, event: Click) -> None:
        """Sort by the head, or go to the row, that was clicked on."""
        if event.y == 0:
            column = self._column_at(event.x)
            if column:
                self.post_message(self.Sorted(column))
            return
        self._go_to(event.y - 1 + round(self.scroll_y))

    def _column_at(self, x: int) -> str | None:
        if x < self._widths.name:
            return DEVICE
        end = self._widths.name + self._widths.history - round(self.scroll_x)
        for column, width in _FIGURE_WIDTHS.items():
            if end <= x < end + width:
                return column
            end += width
        return None

    def action_move(self, steps: int) -> None:
        """So many rows down."""
        self._go_to(self.cursor + steps)

    def action_page(self, pages: int) -> None:
        """So many screens down."""
        self._go_to(self.cursor + pages * max(1, self.scrollable_size.height - 1))

    def action_fold(self) -> None:
        """Show or hide the members of the volume under the cursor."""
        if self._rows and self._rows[self.cursor].has_members:
            self.post_message(self.Folded(self._rows[self.cursor].path))

    def _go_to(self, index: int) -> None:
        if not self._rows:
            return
        index = min(len(self._rows) - 1, max(0, index))
        self._cursor = self._rows[index].path
        first, room = round(self.scroll_y), max(1, self.scrollable_size.height - 1)
        self.scroll_to(y=min(index, max(first, index - room + 1)), animate=False)
        self.refresh()


def _name(row: Row) -> str:
    """Format the device's label, indented below its volume, with a mark if it has members."""
    mark = {True: "▸ ", False: "▾ "}[row.is_folded] if row.has_members else ""
    return "  " * row.depth + mark + visible(row.device.label)


@lru_cache
def _figure_cells(values: tuple[float | None, ...], under: str) -> _Line:
    """Return the cells of COLUMNS, with neighbours of the same style merged; cached."""
    kinds = (under or _shade(*cell) for cell in zip(COLUMNS, values, strict=True))
    texts = map(str.rjust, map(_number, values), _FIGURE_WIDTHS.values())
    groups = groupby(zip(texts, kinds, strict=True), itemgetter(1))
    return tuple(("".join(text for text, _ in cells), kind) for kind, cells in groups)


def _shade(column: str, value: float | None) -> str:
    """Return the style: dim for zero, highlighted for a saturated device."""
    if not value:
        return "idle"
    return "busy" if column == _UTIL and value >= _BUSY_PERCENT else _PLAIN


def _number(value: float | None) -> str:
    """Three digits or more; what is not known is a dash."""
    if value is None:
        return "-"
    if value >= 100 or value == 0:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
