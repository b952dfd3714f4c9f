"""Emulated terminal screen: the visible lines and the scrollback."""

from __future__ import annotations

import re

_TOKENS = re.compile(r"\x1b\[\??([0-9;]*)([A-Za-z])|\x1b|\r|\n|[^\x1b\r\n]+")
_WITHOUT_EFFECT = "mhl"


class Screen:
    """The few sequences that rich's Live writes; any other one is an error, and no guess is made.

    ``lines`` are all that were ever there, the last ``height`` of them on the screen.
    """

    def __init__(self, width: int = 80, height: int = 24) -> None:
        self.width, self.height = width, height
        self.lines = [""]
        self._row = self._column = 0

    def write(self, text: str) -> None:
        """Obey it."""
        for token in _TOKENS.finditer(text):
            if token[2]:
                self._obey(token[2], int(token[1] or 1) if token[2] in "AK" else 0)
            else:
                self._put(token[0])

    def text(self) -> str:
        """Everything, as a person finds it who scrolls up."""
        return "\n".join(line.rstrip() for line in self.lines).rstrip()

    def _obey(self, command: str, number: int) -> None:
        if command == "A":
            top = max(0, len(self.lines) - self.height)
            self._row = max(top, self._row - number)
        elif command == "K":
            assert number == 2
            self.lines[self._row] = ""
        else:
            assert command in _WITHOUT_EFFECT, command

    def _put(self, text: str) -> None:
        if text == "\r":
            self._column = 0
        elif text == "\n":
            self._next_line()
        else:
            assert text.isprintable(), text
            while text:
                if self._column == self.width:
                    self._next_line()
                room = self.width - self._column
                part, text = text[:room], text[room:]
                line = self.lines[self._row].ljust(self._column)
                end = self._column + len(part)
                self.lines[self._row] = line[: self._column] + part + line[end:]
                self._column = end

    def _next_line(self) -> None:
        self._row, self._column = self._row + 1, 0
        if self._row == len(self.lines):
            self.lines.append("")
