"""What an undo tells: what was put back, and from which value to which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class RestoredValue:
    """A value that was put back: ``what`` was ``found`` and is ``original`` again."""

    what: str
    found: str | None
    original: str

    def __str__(self) -> str:
        """``block.scheduler of loop0: bfq -> none``."""
        return f"{self.what}: {self.found} -> {self.original}"


def joined(told: Iterable[str | RestoredValue]) -> tuple[str, ...]:
    """Everything in words, in order; what went back in several steps once, from first to last."""
    lines: dict[str, str | RestoredValue] = {}
    for each in told:
        if isinstance(each, RestoredValue):
            first = lines.get(each.what)
            whole = (
                replace(first, original=each.original) if isinstance(first, RestoredValue) else each
            )
            lines[each.what] = whole
        else:
            lines[each] = each
    return tuple(map(str, lines.values()))
