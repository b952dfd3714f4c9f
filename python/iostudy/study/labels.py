"""Labels of levels, configurations and workloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
