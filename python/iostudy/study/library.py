"""Studies found by path, and the ready-made studies of the package, found by name.

A file may have other ``sizes`` of its study: sections that replace those of the file. ``NAME-SIZE``
is a study of its own: its text is whole and names no size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from iostudy.errors import StudyError, TargetError, UsageError
from iostudy.plugins import installed, require_plugin_of
from iostudy.study.model import Study
from iostudy.study.names import require_known
from iostudy.study.parser import load, name_study, parse, read_file
from iostudy.study.source import read, write

FOLDER = Path(__file__).parent.parent / "studies"
STDIN = Path("/dev/stdin")
SIZES = "sizes"
"""The key of a file's other sizes."""
FULL = "full"
"""The size of what was published."""


def names() -> tuple[str, ...]:
    """Return the names of the files of ready-made studies, also of plugins."""
    return tuple(sorted(_files()))


@cache
def _files() -> Mapping[str, Path]:
    files = {path.stem: path for path in FOLDER.glob("*.yaml")}
    for plugin in installed():
        for path in plugin.studies.glob("*.yaml") if plugin.studies else ():
            if path.stem in files:
                raise UsageError(
                    "ready-made studies with names of their own",
                    found=f"the name {path.stem} of {files[path.stem]}",
                    where=str(path),
                    remedy=f"rename it, or remove the plugin: pip uninstall iostudy-{plugin.name}",
                )
            files[path.stem] = path
    return files


def find_size(name: str, size: str) -> str | None:
    """The name of a ready-made study in a size; None if it has none of that size.

    A file without a full size is that size.
    """
    sized = f"{name}-{size}"
    if size in _read_sizes(ready_file(name))[1] or sized in names():
        return sized
    return name if size == FULL else None


def load_study(given: str) -> Study:
    """The study given by path, or by the name of a ready-made one; ``-`` is stdin.

    StudyError with all its problems, UsageError if there is none or it cannot be read.
    """
    path = Path(given)
    if path.exists():
        return load(find_study(given))
    return _load_sized(path if path.suffix else ready_file(given)) or load(find_study(given))


def load_ready_made(name: str) -> Study:
    """The ready-made study of that name, whatever files the current folder has."""
    path = ready_file(name)
    return _load_sized(path) or load(path)


def command_argument(name: str, text: str) -> str:
    """The argument of a command that means a study of this name and text: no file if ready-made."""
    path = ready_file(name)
    ready = path.read_text("utf-8") if name in names() else _sized_text(path)
    return name if ready == text else f"{name}.yaml"


def find_study(study: str) -> Path:
    """The file of a study given by path, or by the name of a ready-made one; ``-`` is stdin.

    Pipes are files too, as those of process substitution. UsageError if there is neither.
    """
    path = STDIN if study == "-" else Path(study)
    if path.exists() and not path.is_dir():
        return path
    ready = names()
    see = "give the path of a study file, or the name of a ready-made one"
    if path.suffix or len(path.parts) != 1 or path.is_dir():
        raise TargetError(
            "a study file",
            found="a directory" if path.is_dir() else "it does not exist",
            where=study,
            remedy=f"{see}, such as {path.stem if path.stem in ready else 'quickstart'}",
        )
    if study not in ready:
        for word in (study, study.rpartition("-")[0]):
            require_plugin_of(word, where=study)
    see += f": {', '.join(ready)}"
    return ready_file(require_known("study", study, ready, where="the command line", see=see))


def ready_file(name: str) -> Path:
    """The file of a ready-made study; for NAME-SIZE a path in the folder of NAME."""
    base, _, _ = name.rpartition("-")
    files = _files()
    return files.get(name) or files.get(base, FOLDER / name).with_name(f"{name}.yaml")


def _read_sizes(path: Path) -> tuple[Any, Mapping[str, Any]]:
    """Return the values of a study file that has other sizes, and these; of another file none."""
    text = read_file(path)
    values: Any = read(text, str(path)).values if SIZES in text else {}
    sizes = values.pop(SIZES, None)
    return values, sizes if isinstance(sizes, Mapping) else {}


def _load_sized(path: Path) -> Study | None:
    """Return the study of the path ``NAME-SIZE.yaml``, if NAME.yaml has that size.

    StudyError names the key paths of problems, since the lines are those of no file.
    """
    text = _sized_text(path)
    if text is None:
        return None
    name, _, size = path.stem.rpartition("-")
    where = f"{path.with_stem(name)} in the size {size}"
    try:
        return parse(text, where=where, name=name_study(path.stem))
    except StudyError as error:
        raise StudyError(where, tuple(replace(p, line=0) for p in error.problems)) from error


def _sized_text(path: Path) -> str | None:
    """Return the text of another size of a study; None if it is none."""
    name, _, size = path.stem.rpartition("-")
    file = path.with_stem(name) if name else path
    values, sizes = _read_sizes(file) if file.is_file() else ({}, {})
    if size not in sizes:
        return None
    if not isinstance(others := sizes[size], Mapping):
        return read_file(file)  # the parser says what is wrong with it
    _replace(values, others)
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
