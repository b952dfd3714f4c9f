"""Check for characters in a study file that reports and commands cannot represent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from iostudy.study.problems import Path, ProblemCollector

_UNWRITABLE = re.compile(r"[\0\ud800-\udfff]")
"""NUL ends an argument (execve(2)), and half of a surrogate pair has no UTF-8 form."""


def refuse_unprintable(collector: ProblemCollector) -> None:
    """Note each key or value that has such a character, which only an escape can make."""
    for path, text in _texts((), collector.source.values):
        character = _UNWRITABLE.search(text)
        if character:
            message = "a text cannot have this character; leave it out"
            collector.add(path, message, found=f"U+{ord(character[0]):04X}")


def _texts(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    """Every text below ``path``, each with its path; a key has that of its value."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key), str(key)
            yield from _texts((*path, key), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts((*path, index), item)
    elif isinstance(value, str):
        yield path, value
