"""A way to write readings as text, and the loop that writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from iostudy.settings.transaction.uninterrupted import uninterrupted
from iostudy.watch.live import Reading


class Form(Protocol):
    """Text of readings, piece by piece: ``begin``, any number of readings, and ``end``."""

    def begin(self) -> str:
        """What comes before all readings."""

    def reading(self, reading: Reading) -> str:
        """One of them."""

    def end(self) -> str:
        """What comes after the last one, be there any or none."""


def write_readings(form: Form, readings: Iterable[Reading], write: Callable[[str], None]) -> None:
    """Write each reading as it comes.

    A document that has begun is ended, whatever ends the readings, also before the first. A signal
    waits until the piece under way is written, so that none is cut in two.
    """
    with uninterrupted():
        write(form.begin())
    try:
        for reading in readings:
            with uninterrupted():
                write(form.reading(reading))
    finally:
        with uninterrupted():
            write(form.end())
