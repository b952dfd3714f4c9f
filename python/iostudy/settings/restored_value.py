"""Restored values, as the result of an undo."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class RestoredValue:
    """A restored value: ``what`` changed from ``found`` back to ``original``."""

    what: str
    found: str | None
    original: str

    def __str__(self) -> str:
        """``block.scheduler of loop0: bfq -> none``."""
        return f"{self.what}: {self.found} -> {self.original}"


def format_restored(values: Iterable[str | RestoredValue]) -> tuple[str, ...]:
    """Format all values in order; several steps of one value become one line."""
    lines: dict[str, str | RestoredValue] = {}
    for each in values:
        if isinstance(each, RestoredValue):
            first = lines.get(each.what)
            whole = (
                replace(first, original=each.original) if isinstance(first, RestoredValue) else each
            )
            lines[each.what] = whole
        else:
            lines[each] = each
    return tuple(map(str, lines.values()))
