"""What persisting comes to, before anything is written: files, refusals, and what makes them hold.

These are values; `iostudy.persist.install` acts on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
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
    """What a file of the kernel should say once all is active."""

    path: Path
    value: str


@dataclass(frozen=True)
class Artifact:
    """A file as it is to be; ``before`` is what it holds now, None where there is none.

    ``path`` is absolute. ``activations`` make the file hold now, in their order; ``expected`` is
    what the kernel says then.
    """

    path: Path
    before: str | None
    after: str
    activations: tuple[Activation, ...] = ()
    expected: tuple[Expected, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after


@dataclass(frozen=True)
class Unkept:
    """A setting that is not kept, why, and what can be done instead."""

    what: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"not kept: {self.what}: {self.reason}; {self.remedy}"


@dataclass(frozen=True)
class Clash:
    """A line of somebody else that wants something else: ``where`` is ``FILE:LINE``."""

    what: str
    where: str
    found: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}: {self.where} says {self.found}; {self.remedy}"


@dataclass(frozen=True)
class Rendered:
    """Everything that persisting some settings comes to; ``places`` change when it is activated."""

    artifacts: tuple[Artifact, ...] = ()
    unkept: tuple[Unkept, ...] = ()
    clashes: tuple[Clash, ...] = ()
    notes: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    def __add__(self, other: Rendered) -> Rendered:
        return Rendered(
            self.artifacts + other.artifacts,
            self.unkept + other.unkept,
            self.clashes + other.clashes,
            self.notes + other.notes,
            self.places + other.places,
        )


def together(parts: Iterable[Rendered]) -> Rendered:
    """All of them as one."""
    return reduce(Rendered.__add__, parts, Rendered())


def heading(origin: str) -> str:
    """The comment at the top of a file that iostudy owns."""
    return f"# {MARK}: {printable(origin)}.\n"


def printable(text: str) -> str:
    """The text on one line that no other continues, whatever names of studies and disks hold."""
    return "".join(c if c.isprintable() and c != "\\" else "?" for c in text)
