"""Persistence plan: files to write, activations, conflicts and unsupported settings.

These are values; `iostudy.persist.install` acts on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

MARK = "Written by `iostudy persist`"


@dataclass(frozen=True)
class Activation:
    """A command that makes a file hold now; ``needs`` is a path without which it cannot work.

    ``otherwise`` says what follows where ``needs`` is missing.
    """

    command: tuple[str, ...]
    needs: Path = Path("/")
    otherwise: str = ""


@dataclass(frozen=True)
class Expected:
    """Expected content of a kernel file once everything is active."""

    path: Path
    value: str


@dataclass(frozen=True)
class Artifact:
    """A file with its new content; ``before`` is the current one, None for a missing file.

    ``path`` is absolute. ``activations`` apply the file now, in this order; ``expected`` are
    the kernel's values afterwards.
    """

    path: Path
    before: str | None
    after: str
    activations: tuple[Activation, ...] = ()
    expected: tuple[Expected, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether the content changes."""
        return self.before != self.after


@dataclass(frozen=True)
class UnsupportedSetting:
    """A setting that is not kept, why, and what can be done instead."""

    what: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"not kept: {self.what}: {self.reason}; {self.remedy}"


@dataclass(frozen=True)
class Conflict:
    """A line of another author with another value: ``where`` is ``FILE:LINE``."""

    what: str
    where: str
    found: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}: {self.where} says {self.found}; {self.remedy}"


@dataclass(frozen=True)
class PersistencePlan:
    """Result of planning some settings; ``places`` change when it is activated."""

    artifacts: tuple[Artifact, ...] = ()
    unsupported: tuple[UnsupportedSetting, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    notes: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    def __add__(self, other: PersistencePlan) -> PersistencePlan:
        return PersistencePlan(
            self.artifacts + other.artifacts,
            self.unsupported + other.unsupported,
            self.conflicts + other.conflicts,
            self.notes + other.notes,
            self.places + other.places,
        )


def format_heading(origin: str) -> str:
    """The comment at the top of a file that iostudy owns."""
    return f"# {MARK}: {to_printable(origin)}.\n"


def add_provenance(artifact: Artifact, lines: Sequence[str]) -> Artifact:
    """Insert the lines as comments below the mark of a file that iostudy owns."""
    first, end, rest = artifact.after.partition("\n")
    if MARK not in first or not lines:
        return artifact
    comments = "".join(f"# {to_printable(line)}\n" for line in lines)
    return replace(artifact, after=first + end + comments + rest)


def to_printable(text: str) -> str:
    """Return the text as one complete line, with special characters of names escaped."""
    return "".join(c if c.isprintable() and c != "\\" else "?" for c in text)
