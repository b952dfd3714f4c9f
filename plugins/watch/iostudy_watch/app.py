"""Interactive table of live readings in a terminal, with keys and mouse."""

from __future__ import annotations

import asyncio
import os
import signal
import termios
import time
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.timer import Timer
from textual.widgets import Footer, Input, Static

from iostudy.errors import InternalError
from iostudy.visible import visible
from iostudy_watch.grid import KEYS, Grid
from iostudy_watch.help import Help
from iostudy_watch.live import Live, Reading, next_due
from iostudy_watch.machine_text import (
    format_busiest,
    format_dirty,
    format_pressure,
    format_processors,
)
from iostudy_watch.table import (
    DEVICE,
    History,
    TableView,
    adjacent_column,
    build_rows,
    next_sorting,
)

_SORT = Binding.Group("Sort", compact=True)
_INTERVALS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


def _sort_binding(keys: str, action: str, shown: str, meaning: str) -> Binding:
    return Binding(keys, action, "Sort", key_display=shown, tooltip=meaning, group=_SORT)


_KEYS = (
    Binding("q", "quit", "Quit"),
    Binding("slash", "filter", "Filter", key_display="/", tooltip="Only names that contain a text"),
    Binding("escape", "unfilter", "All devices again", key_display="esc", show=False),
    Binding("space", "pause", "Pause", tooltip="Pause or resume updates"),
    _sort_binding("less_than_sign,comma", "sort(-1)", "<", "Sort by the column to the left"),
    _sort_binding("greater_than_sign,full_stop", "sort(1)", ">", "... to the right"),
    Binding("r", "reverse", "Reverse the order", show=False),
    Binding("h", "history", "Show the history of the sorted column", show=False),
    Binding("t", "tree", "Tree", tooltip="Members below their volumes, or a flat list"),
    Binding("minus", "interval(-1)", "Shorter interval", key_display="-", show=False),
    Binding("plus,equals_sign", "interval(1)", "Longer interval", key_display="+", show=False),
    Binding("question_mark", "help", "Help", key_display="?", tooltip="These keys"),
    Binding("ctrl+z", "suspend_process", "Suspend to the shell", show=False),
    Binding("ctrl+c", "interrupt", "Quit, with exit code 130", show=False, priority=True),
)


def show(
    live: Live, interval: float, count: int | None, ending: Collection[signal.Signals]
) -> int | None:
    """Show it until the user quits; return the number of the signal that ended it, or None.

    The caller's handlers of the ``ending`` signals do not hear of them: the event loop must end
    itself for the terminal to be put right. They are the default ones afterwards.
    """
    return asyncio.run(_run_app(WatchApp(live, interval, count), ending))


async def _run_app(app: WatchApp, ending: Collection[signal.Signals]) -> int | None:
    loop = asyncio.get_running_loop()
    for number in ending:
        loop.add_signal_handler(number, app.exit, int(number))
    if signal.SIGHUP in ending:
        signal.signal(signal.SIGHUP, partial(_handle_hangup, app, loop))
    ended = await app.run_async()
    if app.return_code:
        raise InternalError("the live table failed", "stderr, above")  # Textual has printed it
    return ended


def _handle_hangup(
    app: WatchApp, loop: asyncio.AbstractEventLoop, number: int, _frame: FrameType | None
) -> None:
    """End in order, but at once if the terminal is gone.

    Textual's writing thread has ended then, and the loop may wait for it for ever: so this is no
    handler of the loop's. There is no terminal to be put right.
    """
    try:
        termios.tcgetattr(0)
    except termios.error:
        os._exit(128 + number)
    loop.call_soon_threadsafe(app.exit, number)


class WatchApp(App[int]):
    """Shows a reading every ``interval`` seconds, ``count`` of them or until the user quits.

    Its result is the number of the signal that ended it, None if none did.
    """

    ENABLE_COMMAND_PALETTE = False
    TITLE = "iostudy watch"
    CSS = """
    #machine { height: 4; }
    #filter { display: none; height: 1; border: none; padding: 0; }
    #filter.wanted { display: block; }
    """
    BINDINGS: ClassVar = [*_KEYS]

    def __init__(self, live: Live, interval: float, count: int | None = None) -> None:
        # The terminal's own colours: they suit its background, and NO_COLOR leaves none of them.
        super().__init__(ansi_color=True)
        self._live, self._interval, self._left = live, interval, count
        self._due = time.monotonic()
        self._view, self._history = TableView(), History()
        self._reading: Reading | None = None
        self._paused = False
        self._machine = Static("waiting for the first reading", id="machine", markup=False)
        self._grid = Grid()
        self._filter = Input(placeholder="a part of a name", id="filter", compact=True)
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """The machine, the devices, what is typed as a filter, and the keys."""
        yield self._machine
        yield self._grid
        yield self._filter
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Begin to read."""
        self.theme = "ansi-dark"
        self._grid.focus()
        self._wait()

    def _wait(self) -> None:
        """Until the next reading is due."""
        self._due = next_due(self._due, self._interval, time.monotonic())
        if self._timer is not None:
            self._timer.stop()
        # The grid's and not the app's: when the screen is taken down, it ends with it.
        self._timer = self._grid.set_timer(max(0.0, self._due - time.monotonic()), self._read)

    def _read(self) -> None:
        """Take a reading; while paused it goes to the history alone."""
        reading = self._live.read()
        self._history.add(reading)
        if not self._paused:
            self._reading = reading
            self._show()
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                self.exit()
                return
        self._wait()

    def _show(self) -> None:
        if self._reading is None:
            return
        self._machine.update(self._format_machine(self._reading), layout=False)
        shown = build_rows(self._reading, self._view)
        self._grid.show(shown, self._view, self._history)

    def _format_machine(self, reading: Reading) -> str:
        state = "PAUSED" if self._paused else f"every {self._interval:g} s"
        matching = f"   only *{visible(self._view.matching)}*" if self._view.matching else ""
        figures = reading.summary.machine
        head = f"{visible(reading.host.name)}   {reading.at:%H:%M:%S}   {state}{matching}"
        memory = "   ".join(filter(None, (format_dirty(figures), format_busiest(reading.busiest))))
        lines = (f"{head}   {format_pressure(figures)}", format_processors(figures), memory)
        return "\n".join(filter(None, lines))

    def _change(self, view: TableView) -> None:
        self._view = view
        self._show()

    def action_sort(self, steps: int) -> None:
        """Sort by the column that many steps to the right."""
        column = adjacent_column(self._view.sorted_by, steps)
        self._change(replace(self._view, sorted_by=column, descending=True))

    def action_reverse(self) -> None:
        """The other way round."""
        self._change(replace(self._view, descending=not self._view.descending))

    def action_tree(self) -> None:
        """Members below their volumes, or every device on its own."""
        self._change(replace(self._view, as_tree=not self._view.as_tree))

    def action_history(self) -> None:
        """Show the history of the sorted figure."""
        if self._view.sorted_by != DEVICE:
            self._change(replace(self._view, history_of=self._view.sorted_by))

    def action_pause(self) -> None:
        """Pause or resume updates."""
        self._paused = not self._paused
        self._show()

    def action_interval(self, steps: int) -> None:
        """The next longer interval, or the next shorter one."""
        longer = [interval for interval in _INTERVALS if interval > self._interval]
        shorter = [interval for interval in _INTERVALS if interval < self._interval]
        ahead = longer if steps > 0 else shorter[::-1]
        if ahead:
            self._interval, self._due = ahead[0], time.monotonic()
            self._wait()
            self._show()

    def action_filter(self) -> None:
        """Type a part of a name."""
        self._filter.add_class("wanted")
        self._filter.focus()

    def action_unfilter(self) -> None:
        """Show all devices again."""
        self._filter.value = ""
        self._leave_filter()

    def action_help(self) -> None:
        """Show all keys."""
        self.push_screen(Help((*KEYS, *_KEYS)))

    def action_interrupt(self) -> None:
        """Ctrl-C is a key here, and means what it does elsewhere."""
        self.exit(int(signal.SIGINT))

    def on_input_changed(self, changed: Input.Changed) -> None:
        """Show what matches so far."""
        self._change(replace(self._view, matching=changed.value))

    def on_input_submitted(self) -> None:
        """Keep the filter, and go back to the devices."""
        self._leave_filter()

    def _leave_filter(self) -> None:
        self._filter.remove_class("wanted")
        self._grid.focus()

    def on_grid_sorted(self, chosen: Grid.Sorted) -> None:
        """Sort by the selected column."""
        column, descending = next_sorting(self._view, chosen.column)
        self._change(replace(self._view, sorted_by=column, descending=descending))

    def on_grid_folded(self, volume: Grid.Folded) -> None:
        """Members hidden, or shown again."""
        self._change(replace(self._view, folded=self._view.folded ^ {volume.path}))
