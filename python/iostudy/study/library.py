"""The ready-made studies that ship with the package, found by name or path."""

from __future__ import annotations

from pathlib import Path

from iostudy.errors import UsageError
from iostudy.study.names import UnknownNameError

FOLDER = Path(__file__).parent.parent / "studies"


def names() -> tuple[str, ...]:
    """The names of the ready-made studies."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def find(study: str) -> Path:
    """The file of a study given by path, or by the name of a ready-made one.

    UsageError if there is neither.
    """
    path = Path(study)
    if path.is_file():
        return path
    if study in names():
        return FOLDER / f"{study}.yaml"
    unknown = UnknownNameError("study", study, names())
    hint = f"; did you mean {unknown.suggestion}?" if unknown.suggestion else ""
    raise UsageError(
        "a study file, or the name of a ready-made study",
        found=f"there is no such file, and the ready-made ones are {unknown.allowed}{hint}",
        where=study,
        remedy="give the path of a study file, or one of those names",
    )
