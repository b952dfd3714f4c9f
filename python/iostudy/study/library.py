"""The ready-made studies that ship with the package, found by name or path."""

from __future__ import annotations

from pathlib import Path

from iostudy.errors import TargetError
from iostudy.study.names import require_known

FOLDER = Path(__file__).parent.parent / "studies"
STDIN = Path("/dev/stdin")


def names() -> tuple[str, ...]:
    """The names of the ready-made studies."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def command_argument(name: str, text: str) -> str:
    """The argument of a command that means a study of this name and text: no file if ready-made."""
    own = FOLDER / f"{name}.yaml"
    is_ready_made = name in names() and own.read_text(encoding="utf-8") == text
    return name if is_ready_made else own.name


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
