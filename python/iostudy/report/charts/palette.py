"""Colours and shapes of the charts.

Every colour has a contrast of at least 3:1 against both the white and the dark page (WCAG 2.2,
1.4.11), with hues apart for colour-blind eyes (after Okabe & Ito); a shape says the same again.
"""

from __future__ import annotations

from typing import assert_never

from iostudy.analysis.verdict import Verdict

GREEN = "#0f9570"
RED = "#d2521f"
BLUE = "#2f7fc1"
GREY = "#7d8590"

COLOURS = (BLUE, RED, GREEN, "#b363a6", "#a3761c", "#2395ad", "#8c6bc8", GREY)
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "triangle-down",
    "triangle-right",
    "triangle-left",
    "cross",
)

GLYPHS = dict(zip(SHAPES, "●■▲◆▼▶◀✚", strict=True))
"""Characters that look like the shapes, for legends in text."""


def choose_verdict_mark(verdict: Verdict) -> tuple[str, str]:
    """Colour and shape of a verdict."""
    match verdict:
        case Verdict.BETTER:
            return GREEN, "triangle-up"
        case Verdict.WORSE:
            return RED, "triangle-down"
        case Verdict.EQUIVALENT:
            return BLUE, "circle"
        case Verdict.NOT_WORSE:
            return BLUE, "triangle-right"
        case Verdict.NOT_BETTER:
            return BLUE, "triangle-left"
        case Verdict.INCONCLUSIVE:
            return GREY, "diamond"
        case _:
            assert_never(verdict)


def cycle_items(items: tuple[str, ...], count: int) -> list[str]:
    """``count`` of them, from the beginning again when they are used up."""
    return [items[index % len(items)] for index in range(count)]
