"""Configuration in folders of snippets: which files are read, in which order, and what they say.

Source: sysctl.d(5), tmpfiles.d(5), udev(7): a file masks those of the same name in the folders
after it, and the files of all folders are read in the order of their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.files import decode
from iostudy.persist.kept import Kept
from iostudy.persist.rendered import Activation, Artifact, Clash, Expected, Rendered

FOLDERS = ("etc", "run", "usr/local/lib", "usr/lib", "lib")
"""From the strongest to the weakest; the first two are the administrator's."""


@dataclass(frozen=True)
class Line:
    """A line of a file; ``number`` counts from 1, ``vendor`` tells that a package brought it."""

    path: Path
    number: int
    text: str
    vendor: bool = False

    @property
    def where(self) -> str:
        """``FILE:LINE``."""
        return f"{self.path}:{self.number}"


@dataclass(frozen=True)
class Said:
    """A line about a setting: the value it gives, and whether it wins over iostudy's own file."""

    line: Line
    value: str
    wins: bool


def read_text(path: Path, root: Path) -> str | None:
    """What the file holds, any bytes in it; None if there is none."""
    real = below(path, root)
    return decode(real.read_bytes()) if real.is_file() else None


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


def files(folder: str, suffix: str, root: Path) -> tuple[Path, ...]:
    """The files that are read, in the order they are read in, as absolute paths.

    ``folder`` is the name it has in each of FOLDERS, such as ``sysctl.d``.
    """
    found: dict[str, Path] = {}
    for parent in FOLDERS:
        for path in (root / parent / folder).glob(f"*{suffix}"):
            found.setdefault(path.name, Path("/") / parent / folder / path.name)
    return tuple(found[name] for name in sorted(found))


def lines(paths: Iterable[Path], root: Path) -> Iterator[Line]:
    """Every line of the files that is neither empty nor a comment."""
    for path in paths:
        text = read_text(path, root) or ""
        vendor = path.parts[1] not in ("etc", "run")
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip() and line.strip()[0] not in "#;":
                yield Line(path, number, line.strip(), vendor)


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
        clashing = [one for one in differing if one.wins or not one.line.vendor]
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
        f"put an empty file of its name into /etc/{said.line.path.parent.name} to mask it"
        if said.line.vendor
        else "remove that line, or give it this value"
    )
    return Clash(setting.text, said.line.where, said.line.text, remedy)
