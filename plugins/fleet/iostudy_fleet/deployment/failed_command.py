"""Explanation of a failed command on a node, from its exit code and messages (pure)."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from iostudy_fleet.deployment.readiness import Problem

_NOT_FOUND = (126, 127)


def last_line(text: str) -> str:
    """The last line of a program's messages."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines or ["no message"])[-1]


def no_python(python: str, said: str) -> Problem:
    """The interpreter cannot be started."""
    return Problem(
        f"no Python in {python}: {said}",
        "install iostudy there and name its Python (--python or iostudy_python)",
    )


def explain_failure(code: int, said: str, python: str, check: Sequence[str]) -> Problem:
    """Why the Python of a node gave no facts; ``check`` is a command that shows more."""
    if code in _NOT_FOUND:
        return no_python(python, said)
    if said.startswith("sudo"):
        return Problem(said, "let sudo run without a password, or connect as root")
    return Problem(f"no facts, exit code {code}: {said}", f"`{shlex.join(check)}` shows more")
