"""Bars of characters: a histogram, and an interval against a margin."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from iostudy.units import format_percent, format_significant

BAR_LETTERS = 40
SHORTEST_INTERVAL_BAR = 21
_SHOWN_MARGINS = 2
"""Half the scale of an interval's bar, in margins."""


def format_bars(histogram: Iterable[tuple[float, int]]) -> Iterator[tuple[str, str, str]]:
    """Bound, share in percent and bar for each power of two, from the lowest to the highest.

    Given are counts with their upper bounds, which are above zero.
    """
    counts: dict[int, int] = {}
    for bound, count in histogram:
        power = math.ceil(math.log2(bound))
        counts[power] = counts.get(power, 0) + count
    total, highest = sum(counts.values()), max(counts.values())
    for power in range(min(counts), max(counts) + 1):
        count = counts.get(power, 0)
        bar = "█" * round(BAR_LETTERS * count / highest)
        share = format_significant(100 * count / total)
        upper = str(2**power) if power >= 0 else format_significant(2.0**power)
        yield upper, share, bar or "▏" * bool(count)


def format_interval_bar(low: float, high: float, width: int, *, final: bool) -> str:
    """An interval in margins on a scale with marks at no change and at both margins.

    The line is heavy if the interval is final. An arrow at an end of the scale says that the
    interval continues beyond it. An infinite interval is not drawn.
    """
    line, crossing = ("━", "┿") if final else ("─", "┼")
    cells = _scale(width)
    if not math.isfinite(low) or not math.isfinite(high):
        return "".join(cells)
    first, last = _place(low, width), _place(high, width)
    for place in range(max(first, 0), min(last, width - 1) + 1):
        cells[place] = line if cells[place] == " " else crossing
    if first < 0:
        cells[0] = "◀"
    if last >= width:
        cells[-1] = "▶"
    return "".join(cells)


def format_interval_axis(margin: float, width: int) -> str:
    """The labels of the marks of `format_interval_bar` for a margin, a fraction."""
    text = format_percent(margin)
    labels = ((-1, f"-{text}"), (0, "0"), (1, f"+{text}"))
    cells = [" "] * width
    for at, label in labels:
        start = min(max(0, _place(at, width) - len(label) // 2), width - len(label))
        cells[start : start + len(label)] = label
    return "".join(cells)


def _scale(width: int) -> list[str]:
    marks = {_place(-1, width): "┊", _place(0, width): "│", _place(1, width): "┊"}
    return [marks.get(place, " ") for place in range(width)]


def _place(margins: float, width: int) -> int:
    """The cell of a value; one beyond an end for all values beyond the scale."""
    half = (width - 1) // 2
    beyond = _SHOWN_MARGINS * (1 + 1 / half)
    return half + round(min(max(margins, -beyond), beyond) / _SHOWN_MARGINS * half)
