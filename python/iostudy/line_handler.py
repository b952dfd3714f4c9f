"""Type of a receiver of lines, such as the progress of a slow step."""

from __future__ import annotations

from collections.abc import Callable

LineHandler = Callable[[str], None]
"""Receives a line without its end."""


def ignore_line(_line: str) -> None:
    """Discard a line."""
