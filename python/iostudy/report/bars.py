"""An interval against a margin as a bar of characters."""

from __future__ import annotations

import math

from iostudy.units import format_percent

SHORTEST_INTERVAL_BAR = 21
SHOWN_MARGINS = 2
"""Half the scale of an interval's bar, in margins."""


def format_interval_bar(
    low: float,
    high: float,
    width: int,
    *,
    final: bool,
    estimate: float = math.nan,
    shown: int = SHOWN_MARGINS,
) -> str:
    """An interval in margins on a scale with marks at no change and at both margins.

    The line is heavy if the interval is final. An arrow at an end of the scale says that the
    interval continues beyond it. An infinite interval is not drawn. A dot marks the estimate.
    ``shown`` is half the scale, in margins.
    """
    line, crossing = ("━", "┿") if final else ("─", "┼")
    marks = {_place(-1, width, shown): "┊", _place(1, width, shown): "┊"}
    marks[_place(0, width, shown)] = "│"
    cells = [marks.get(place, " ") for place in range(width)]
    if not math.isfinite(low) or not math.isfinite(high):
        return "".join(cells)
    first, last = _place(low, width, shown), _place(high, width, shown)
    for place in range(max(first, 0), min(last, width - 1) + 1):
        cells[place] = line if cells[place] == " " else crossing
    if first < 0:
        cells[0] = "◀"
    if last >= width:
        cells[-1] = "▶"
    if 0 <= (place := width if math.isnan(estimate) else _place(estimate, width, shown)) < width:
        cells[place] = "●"
    return "".join(cells)


def format_interval_axis(margin: float, width: int, shown: int = SHOWN_MARGINS) -> str:
    """The labels of the marks of `format_interval_bar` for a margin, a fraction.

    On a longer scale than usual they are those of its ends.
    """
    labelled = 1 if shown == SHOWN_MARGINS else shown
    text = format_percent(labelled * margin)
    if width < SHORTEST_INTERVAL_BAR:
        text = text.replace(" ", "")
    labels = ((-labelled, f"-{text}"), (0, "0"), (labelled, f"+{text}"))
    cells = [" "] * width
    for at, label in labels:
        start = min(max(0, _place(at, width, shown) - len(label) // 2), width - len(label))
        cells[start : start + len(label)] = label
    return "".join(cells)


def _place(margins: float, width: int, shown: int) -> int:
    """The cell of a value; one beyond an end for all values beyond the scale."""
    half = (width - 1) // 2
    beyond = shown * (1 + 1 / half)
    return half + round(min(max(margins, -beyond), beyond) / shown * half)
