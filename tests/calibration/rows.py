"""Rows of the tables of docs/method/calibration.md and their Markdown."""

from __future__ import annotations

import re
from pathlib import Path

Row = tuple[str, ...]

PAGE = Path(__file__).parents[2] / "docs/method/calibration.md"
PLACE = "<!-- calibration: {name} -->\n"


def percent(share: float) -> str:
    """A share with the two decimals that the simulation supports."""
    return f"{100 * share:.2f} %"


def markdown(rows: list[Row]) -> str:
    """A markdown table whose first row is the head."""
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *body, ""])


def placed(page: str, name: str, table: str) -> str:
    """The page with a table in its place; ValueError if it has none, or several."""
    place = PLACE.format(name=name)
    found, count = re.subn(re.escape(place) + r"(?:\|.*\n)*", lambda _: place + table, page)
    if count != 1:
        raise ValueError(f"{PAGE.name} has {count} places for {name}, not one: {place}")
    return found
