"""CSV output of readings: a row for each device and interval (pure)."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from iostudy.telemetry.iostat import EXTENDED_FIGURES, OLD_FIGURES, compute_old_figures
from iostudy_watch.live import Reading

_BEFORE = ("time", "seconds", "device", "called")


@dataclass(frozen=True)
class Csv:
    """``time`` (ISO 8601) when the interval ended, its ``seconds``, the device, and its figures.

    ``called`` is what people call the device. Figures have iostat's names and units. RFC 4180, but
    for line ends, which are those of Unix.
    """

    old: bool = False

    def begin(self) -> str:
        """Write the names of the columns."""
        return _lines([(*_BEFORE, *EXTENDED_FIGURES, *(OLD_FIGURES if self.old else ()))])

    def reading(self, reading: Reading) -> str:
        """A row for each device."""
        time = reading.at.isoformat(timespec="milliseconds")
        seconds = f"{reading.summary.seconds:.3f}"
        rows = []
        for name, figures in reading.summary.devices.items():
            numbers = [figures[head] for head in EXTENDED_FIGURES]
            if self.old:
                numbers += compute_old_figures(figures).values()
            called = reading.devices[name].label
            rows.append((time, seconds, name, called, *(f"{number:.2f}" for number in numbers)))
        return _lines(rows)

    def end(self) -> str:
        """Nothing."""
        return ""


def _lines(rows: list[tuple[str, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
