"""The ready-made studies that ship with the package, found by name or path."""

from __future__ import annotations

from pathlib import Path

from iostudy.study.names import require_known

FOLDER = Path(__file__).parent.parent / "studies"


def names() -> tuple[str, ...]:
    """The names of the ready-made studies."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def find_study(study: str) -> Path:
    """The file of a study given by path, or by the name of a ready-made one.

    UsageError if there is neither.
    """
    path = Path(study)
    if path.is_file():
        return path
    ready = names()
    see = f"give the path of a study file, or one of the ready-made: {', '.join(ready)}"
    return (
        FOLDER / f"{require_known('study', study, ready, where='the command line', see=see)}.yaml"
    )
