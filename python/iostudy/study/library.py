"""The ready-made studies that ship with the package, found by name or path.

A file may have other ``sizes`` of its study: sections that replace those of the file. ``NAME-SIZE``
is a ready-made study of its own, whose text is whole and names no size.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from iostudy.errors import TargetError
from iostudy.study.model import Study
from iostudy.study.names import require_known
from iostudy.study.parser import load, parse
from iostudy.study.source import read, write

FOLDER = Path(__file__).parent.parent / "studies"
STDIN = Path("/dev/stdin")
SIZES = "sizes"
"""The key of a file's other sizes."""
FULL = "full"
"""The size of what was published."""


def names() -> tuple[str, ...]:
    """The names of the files of ready-made studies."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def sized_names() -> tuple[str, ...]:
    """The names of the other sizes of ready-made studies."""
    return tuple(f"{name}-{size}" for name in names() for size in _read_sizes(name))


def find_size(name: str, size: str) -> str | None:
    """The name of a ready-made study in a size; None if it has none of that size.

    A file without a full size is that size.
    """
    sized = f"{name}-{size}"
    if size in _read_sizes(name) or sized in names():
        return sized
    return name if size == FULL else None


def load_study(given: str) -> Study:
    """The study given by path, or by the name of a ready-made one; ``-`` is stdin.

    StudyError with all its problems, UsageError if there is none or it cannot be read.
    """
    if not Path(given).exists() and _sized_text(given) is not None:
        return load_ready_made(given)
    return load(find_study(given))


def load_ready_made(name: str) -> Study:
    """The ready-made study of that name, whatever files the current folder has."""
    text = _sized_text(name)
    if text is None:
        return load(FOLDER / f"{name}.yaml")
    return parse(text, where=f"the ready-made study {name}", name=name)


def command_argument(name: str, text: str) -> str:
    """The argument of a command that means a study of this name and text: no file if ready-made."""
    ready = (FOLDER / f"{name}.yaml").read_text("utf-8") if name in names() else _sized_text(name)
    return name if ready == text else f"{name}.yaml"


def find_study(study: str) -> Path:
    """The file of a study given by path, or by the name of a ready-made one; ``-`` is stdin.

    Pipes are files too, as those of process substitution. UsageError if there is neither.
    """
    path = STDIN if study == "-" else Path(study)
    if path.exists() and not path.is_dir():
        return path
    ready = names()
    see = f"give the path of a study file, or one of the ready-made: {', '.join(ready)}"
    if path.suffix or len(path.parts) != 1 or path.is_dir():
        raise TargetError(
            "a study file",
            found="a directory" if path.is_dir() else "it does not exist",
            where=study,
            remedy=see,
        )
    return (
        FOLDER / f"{require_known('study', study, ready, where='the command line', see=see)}.yaml"
    )


@cache
def _read_sizes(name: str) -> tuple[str, ...]:
    text = (FOLDER / f"{name}.yaml").read_text("utf-8")
    return tuple(read(text, name).values.get(SIZES, ())) if SIZES in text else ()


@cache
def _sized_text(given: str) -> str | None:
    """Return the text of another size of a ready-made study; None if it is none."""
    name, _, size = given.rpartition("-")
    if name not in names() or size not in _read_sizes(name):
        return None
    values: Any = read((FOLDER / f"{name}.yaml").read_text("utf-8"), name).values
    _replace(values, values.pop(SIZES)[size])
    return write(values)


def _replace(values: Any, others: Mapping[str, Any]) -> None:
    """Replace values of a mapping; None removes one, and mappings within are merged."""
    for key, other in others.items():
        if other is None:
            values.pop(key, None)
        elif isinstance(other, Mapping) and isinstance(values.get(key), Mapping):
            _replace(values[key], other)
        else:
            values[key] = other
