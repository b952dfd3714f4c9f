"""Names that a study file may use, and the nearest valid one to a name it may not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UnknownNameError(ValueError):
    """A name that is not in a catalogue: what was found, what is allowed, what was meant."""

    def __init__(self, what: str, found: str, names: Iterable[str]) -> None:
        names = tuple(names)
        super().__init__(f"unknown {what}")
        self.found = found
        self.allowed = ", ".join(names)
        self.suggestion = next(iter(difflib.get_close_matches(found, names, n=1, cutoff=0.5)), "")
