"""Overlay that lists all keys of the live view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

_MOUSE = "A click on the head of a column sorts by it; another one turns the order round."


class Help(ModalScreen[None]):
    """Shows the keys of ``bindings``, and goes with any of those that close it."""

    DEFAULT_CSS = """
    Help { align: center middle; }
    Help > VerticalScroll {
        width: 64; max-width: 100%; height: auto; max-height: 100%; border: solid; padding: 0 1;
    }
    """
    BINDINGS: ClassVar = [Binding("escape,question_mark,q,enter", "dismiss", "Close", show=False)]

    def __init__(self, bindings: Sequence[Binding]) -> None:
        super().__init__()
        self._listed_bindings = bindings

    def compose(self) -> ComposeResult:
        """A line for each key."""
        keys = [(self.app.get_key_display(binding), binding) for binding in self._listed_bindings]
        width = max(len(key) for key, _ in keys)
        lines = [
            f"{key:>{width}}  {binding.tooltip or binding.description}" for key, binding in keys
        ]
        with VerticalScroll():
            yield Static("\n".join([*lines, "", _MOUSE]), markup=False)
