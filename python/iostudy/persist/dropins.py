"""Beside what other files say: which of it stands in the way, and which is there already.

Source: sysctl.d(5), tmpfiles.d(5), udev(7), limits.conf(5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import UsageError
from iostudy.host.configuration import Assignment
from iostudy.host.files import decode
from iostudy.host.reader import Reader
from iostudy.persist.kept import Kept
from iostudy.persist.rendered import Activation, Artifact, Clash, Expected, Rendered

_ADMINISTRATORS = ("etc", "run")
"""The folders at the root that packages leave to the administrator."""


@dataclass(frozen=True)
class Said:
    """What a line says about a setting, and whether it wins over iostudy's own file."""

    line: Assignment
    value: str
    wins: bool

    @property
    def of_package(self) -> bool:
        """Whether a package brought the file."""
        return self.line.file.parts[1] not in _ADMINISTRATORS


def read_text(path: Path, root: Path) -> str | None:
    """What the file holds, any bytes in it; None if there is none.

    UsageError if it may not be read.
    """
    real = below(path, root)
    try:
        return decode(real.read_bytes()) if real.is_file() else None
    except PermissionError as error:
        raise _unreadable(f"{path}: {error.strerror}") from error


def lines_of_others(
    read: Callable[[Reader], tuple[Assignment, ...]], root: Path, own: Path
) -> tuple[Assignment, ...]:
    """What all files but iostudy's own say; UsageError if one of them may not be read."""
    reader = Reader(root)
    found = read(reader)
    if reader.refused:
        raise _unreadable("; ".join(reader.refused))
    return tuple(line for line in found if line.file != own)


def _unreadable(found: str) -> UsageError:
    return UsageError(
        "to compare with what is there already",
        found=found,
        where="the configuration of this host",
        remedy="run it as root",
    )


def below(path: Path, root: Path) -> Path:
    """Where an absolute path is in a tree of its own."""
    return root / path.relative_to("/")


def artifact(
    path: Path,
    after: str,
    root: Path,
    activations: tuple[Activation, ...] = (),
    expected: tuple[Expected, ...] = (),
) -> Artifact:
    """The file as it is now and as it is to be."""
    return Artifact(path, read_text(path, root), after, activations, expected)


def judge(
    kept: Iterable[Kept], others: Callable[[Kept], tuple[Said, ...]]
) -> tuple[tuple[Kept, ...], Rendered]:
    """What is left to write beside the lines of others, and what is to be said about these.

    A line of the administrator that says something else is a clash, and so is one of a package that
    wins; another of a package is overridden, and named. What is there already is not written again.
    """
    left, told = [], Rendered()
    for setting in kept:
        said = others(setting)
        differing = [one for one in said if one.value.split() != setting.value.split()]
        clashing = [one for one in differing if one.wins or not one.of_package]
        if clashing:
            told += Rendered(clashes=tuple(_clash(setting, one) for one in clashing))
        elif said and said[-1] not in differing:
            told += Rendered(notes=(f"{setting.text}: already so in {said[-1].line.where}",))
            continue
        elif differing:
            where = ", ".join(f"{one.line.where} ({one.value})" for one in differing)
            told += Rendered(notes=(f"{setting.text}: overrides {where}",))
        left.append(setting)
    return tuple(left), told


def _clash(setting: Kept, said: Said) -> Clash:
    remedy = (
        f"put an empty file of its name into /etc/{said.line.file.parent.name} to mask it"
        if said.of_package
        else "remove that line, or give it this value"
    )
    return Clash(setting.text, said.line.where, said.line.text, remedy)
