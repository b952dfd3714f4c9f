"""Rows of the tables of docs/calibration.md and their Markdown."""

from __future__ import annotations

Row = tuple[str, ...]


def percent(share: float) -> str:
    """A share with the two decimals that the simulation supports."""
    return f"{100 * share:.2f} %"


def markdown(rows: list[Row]) -> str:
    """A markdown table whose first row is the head."""
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *body, ""])
