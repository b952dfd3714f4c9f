"""The table on the screen: only the lines that are seen are drawn, and only when they change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding
from textual.events import Click, Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from iostudy.report.visible import visible
from iostudy.watch.table import COLUMNS, DEVICE, History, Path, Row, View, sparkline

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
_PLAIN = "plain"
_KINDS = (_PLAIN, "head", "sorted", "cursor", "idle", "busy", "history")


@dataclass(frozen=True)
class _Widths:
    """Columns in cells, each with a blank before it."""

    name: int
    history: int
    figures: dict[str, int]

    @property
    def all(self) -> int:
        return self.name + self.history + sum(self.figures.values())

    @classmethod
    def fitting(cls, rows: Sequence[Row], width: int) -> _Widths:
        """The history has what figures leave of ``width``, and some of it in any case."""
        longest = max((len(_name(row)) for row in rows), default=0) + 1
        name = min(_WIDEST_NAME, max(_NARROWEST_NAME, longest))
        figures = {column: max(len(column), _digits(column)) + 1 for column in COLUMNS}
        left = width - name - sum(figures.values())
        history = min(_WIDEST_HISTORY, max(_NARROWEST_HISTORY, left, width // 4 - name))
        return cls(name, history, figures)


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
        """Somebody clicked on the head of a column."""

        def __init__(self, column: str) -> None:
            super().__init__()
            self.column = column

    class Folded(Message):
        """Somebody wants a volume with or without its members."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    def __init__(self) -> None:
        self._styles: dict[str, Style] = {}
        super().__init__()
        self._rows: Sequence[Row] = ()
        self._view, self._history = View(), History()
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
            own = self.get_component_rich_style(f"grid--{kind}", partial=True)
            self._styles[kind] = self.rich_style + own
        return self._styles[kind]

    @property
    def cursor(self) -> int:
        """The row that the cursor is on; it stays with its device when rows are sorted anew."""
        places = (place for place, row in enumerate(self._rows) if row.path == self._cursor)
        return next(places, 0)

    def show(self, rows: Sequence[Row], view: View, history: History) -> None:
        """Draw these from now on."""
        self._rows, self._view, self._history = rows, view, history
        self._scale = history.scale(view.history_of)
        self._measure()
        self.refresh()

    def _measure(self) -> None:
        self._widths = _Widths.fitting(self._rows, self.scrollable_size.width)
        self.virtual_size = Size(self._widths.all, len(self._rows) + 1)

    def render_line(self, y: int) -> Strip:
        """The heads, then the rows that have been scrolled to."""
        place = y - 1 + round(self.scroll_y)
        if y == 0:
            cells = self._heads()
        elif place < len(self._rows):
            cells = self._cells(self._rows[place], is_cursor=place == self.cursor)
        else:
            return Strip.blank(self.scrollable_size.width, self._style(_PLAIN))
        name, *others = (Segment(text, self._style(kind)) for text, kind in cells)
        begin, room = round(self.scroll_x), self.scrollable_size.width - self._widths.name
        scrolled = Strip(others).simplify().crop_extend(begin, begin + room, self._style(_PLAIN))
        return Strip.join([Strip([name]), scrolled])

    def _heads(self) -> Iterator[_Cell]:
        yield self._head(DEVICE, self._widths.name, left=True)
        title = f" {self._view.history_of}"[: self._widths.history]
        yield title.ljust(self._widths.history), "head"
        for column, width in self._widths.figures.items():
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
        past = self._history.of(row.device.name, of, widths.history - 1)
        yield sparkline(past, self._scale, widths.history - 1), "history"
        for column, width in widths.figures.items():
            value = row.figures.get(column)
            yield _number(value).rjust(width), under or _shade(column, value)

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
        for column, width in self._widths.figures.items():
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

    def _go_to(self, place: int) -> None:
        if not self._rows:
            return
        place = min(len(self._rows) - 1, max(0, place))
        self._cursor = self._rows[place].path
        first, room = round(self.scroll_y), max(1, self.scrollable_size.height - 1)
        self.scroll_to(y=min(place, max(first, place - room + 1)), animate=False)
        self.refresh()


def _name(row: Row) -> str:
    """What people call it, indented below its volume, with a mark if it has members."""
    mark = {True: "▸ ", False: "▾ "}[row.is_folded] if row.has_members else ""
    return "  " * row.depth + mark + visible(row.device.called)


def _shade(column: str, value: float | None) -> str:
    """Nothing to be done is pale; a device that is always at work stands out."""
    if not value:
        return "idle"
    return "busy" if column == _UTIL and value >= _BUSY_PERCENT else _PLAIN


def _digits(column: str) -> int:
    return _DIGITS + 1 if column.endswith("kB/s") else _DIGITS - column.startswith("%")


def _number(value: float | None) -> str:
    """Three digits or more; what is not known is a dash."""
    if value is None:
        return "-"
    if value >= 100 or value == 0:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
