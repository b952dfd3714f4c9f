"""Texts by name, in a study file a mapping or a text such as ``A=1 B=2``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from iostudy.workloads.option_types import WRITTEN


def parse_text(given: Any) -> str:
    """A text or a number as the study file has it: 1.10 stays 1.10; ValueError for others."""
    if given is None or isinstance(given, list | tuple | Mapping):
        found = "null" if given is None else "a list or a mapping"
        raise ValueError(f"{found} is not a text; put the text in quotes")
    return str(given).lower() if isinstance(given, bool) else str(getattr(given, WRITTEN, given))


def parse_assignments(given: Any) -> dict[str, str]:
    """The texts by name; ValueError for anything but a mapping or a text of assignments."""
    if isinstance(given, str):
        pairs = (word.partition("=") for word in shlex.split(given))
        return {name: value for name, _, value in pairs}
    if not isinstance(given, Mapping):
        raise ValueError("write a mapping such as {A: 1}, or a text such as A=1")
    return {str(name): parse_text(value) for name, value in given.items()}


def format_assignments(given: Mapping[str, str]) -> str:
    """The text that `parse_assignments` reads."""
    return shlex.join(f"{name}={value}" for name, value in given.items())
