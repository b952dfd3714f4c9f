"""Protocol of text formats for readings, and the loop that writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from iostudy.settings.transaction.deferred_signals import defer_signals
from iostudy_watch.live import Reading


class OutputFormat(Protocol):
    """Text of readings, piece by piece: ``begin``, any number of readings, and ``end``."""

    def begin(self) -> str:
        """Return the text before all readings."""

    def reading(self, reading: Reading) -> str:
        """Return the text of one reading."""

    def end(self) -> str:
        """Return the text after the last reading, also if there was none."""


def write_readings(
    form: OutputFormat, readings: Iterable[Reading], write: Callable[[str], None]
) -> None:
    """Write each reading at once.

    A begun document is completed whatever ends the readings. Signals are delayed until the
    current part is written.
    """
    with defer_signals():
        write(form.begin())
    try:
        for reading in readings:
            with defer_signals():
                write(form.reading(reading))
    finally:
        with defer_signals():
            write(form.end())
