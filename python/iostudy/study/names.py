"""Lookup of names with suggestions for unknown ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from iostudy.errors import UsageError

_MOST = 12
"""As many names as a person reads in an error."""


class UnknownNameError(ValueError):
    """A name that is not in a catalogue: what was found, what is allowed, what was meant."""

    def __init__(self, what: str, found: str, names: Iterable[str]) -> None:
        names = tuple(names)
        super().__init__(f"unknown {what}")
        self.found = found
        self.allowed = format_names(found, names)
        self.suggestion = next(iter(difflib.get_close_matches(found, names, n=1, cutoff=0.5)), "")


def format_names(found: str, names: Sequence[str]) -> str:
    """All names, or the most similar ones of many and how many others there are."""
    if len(names) <= _MOST:
        return ", ".join(names)
    near = difflib.get_close_matches(found, names, n=_MOST // 2, cutoff=0.0)
    return f"{', '.join(near)} and {len(names) - len(near)} others"


def _nearest(name: str, names: Iterable[str]) -> list[str]:
    """The most similar name, with others that are about as similar; at most three."""
    near = difflib.get_close_matches(name, names, cutoff=0.5)
    similarity = [difflib.SequenceMatcher(None, each, name).ratio() for each in near]
    return [
        each for each, ratio in zip(near, similarity, strict=True) if ratio > similarity[0] - 0.1
    ]


def require_known(what: str, name: str, names: Iterable[str], *, where: str, see: str) -> str:
    """Return the name; UsageError unless it is one of ``names``, which ``see`` lists."""
    names = tuple(names)
    if name in names:
        return name
    few = len(names) <= _MOST
    near = _nearest(name, names)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    raise UsageError(
        f"a {what} that iostudy knows",
        found=f"{name} is none of {', '.join(names)}" if few else f"there is no {what} {name}",
        where=where,
        remedy=f"{meant}{see}",
    )
