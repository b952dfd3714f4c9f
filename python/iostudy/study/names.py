"""Names and labels: lookup with suggestions, and labels of levels, configurations and workloads."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
    similarity = [difflib.SequenceMatcher(None, candidate, name).ratio() for candidate in near]
    pairs = zip(near, similarity, strict=True)
    return [text for text, ratio in pairs if ratio > similarity[0] - 0.1]


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


MAX_LENGTH = 60


def scalar_text(value: Any) -> str:
    """A single value as the file has it; ValueError for anything else."""
    if isinstance(value, list | tuple | Mapping) or value is None:
        raise ValueError("a single value is wanted here")
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_label(value: Any) -> str:
    """A label that a terminal, a table and a file name can show as it stands; else ValueError."""
    text = scalar_text(value).strip()
    if not text or len(text) > MAX_LENGTH or not text.isprintable():
        raise ValueError(f"a label is one line of 1 to {MAX_LENGTH} printable characters")
    return text


def find_duplicates(labels: Iterable[str]) -> tuple[str, ...]:
    """Those that stand more than once, in their order."""
    return tuple(label for label, count in Counter(labels).items() if count > 1)


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Each dotted name -> as few of its last components as distinguish it from all the others."""
    return {name: _short(name, [other for other in names if other != name]) for name in names}


def _short(name: str, others: Sequence[str]) -> str:
    parts = name.split(".")
    ends = (".".join(parts[-count:]) for count in range(1, len(parts)))
    return next((e for e in ends if not any(f".{o}".endswith(f".{e}") for o in others)), name)
