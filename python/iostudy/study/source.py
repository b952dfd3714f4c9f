"""Reads the text of a study file into plain values with their line numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.scalarstring import LiteralScalarString

from iostudy import units
from iostudy.errors import Problem, StudyError
from iostudy.study.guarded_yaml import RefusedError, new_yaml

MAX_BYTES = 256 * units.KIB
"""A file of as many values as are read (`iostudy.study.guarded_yaml`) has 26 bytes for each."""
_UNFOLDED = 1_000_000

Step = str | int


@dataclass(frozen=True)
class Source:
    """The values of a study file, and the line of each by its key path."""

    values: Mapping[str, Any]

    def line(self, path: Sequence[Step]) -> int:
        """The line, from 1, of the value at ``path``, or of the nearest thing that holds it."""
        return self._follow(path)[1]

    def existing(self, path: Sequence[Step]) -> tuple[Step, ...]:
        """As much of ``path`` as the file has."""
        return tuple(path[: self._follow(path)[0]])

    def _follow(self, path: Sequence[Step]) -> tuple[int, int]:
        """How many steps of ``path`` the file has, and the line of the last one."""
        line, value = 1, self.values
        for count, step in enumerate(path):
            next_line = _line_of(value, step)
            if next_line is None:
                return count, line
            line, value = next_line, value[step]  # type: ignore[index]
        return len(path), line


def decode(content: bytes, where: str) -> str:
    """The text of a study file; StudyError if it is too large or not UTF-8, with the line."""
    if len(content) > MAX_BYTES:
        allowed = f"at most {units.format_size(MAX_BYTES)}"
        raise StudyError(where, (Problem(1, "", "the file is too large", allowed=allowed),))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        fault = f"the byte 0x{content[error.start]:02X}"
        problem = Problem(line, "", "it is not UTF-8 text", fault)
        raise StudyError(where, (problem,)) from error


def read(text: str, where: str) -> Source:
    """Parse YAML 1.2 (so that ``none``, ``on`` and ``off`` are strings); StudyError if it is not.

    A duplicate key is an error, as is anything but a mapping at the top. Anchors, aliases and merge
    keys are errors too: a few lines of aliases can expand to gigabytes, and their values have no
    line of their own.
    """
    try:
        values = new_yaml().load(text)
    except (YAMLError, RecursionError) as error:
        raise StudyError(where, (_problem(text, error),)) from error
    if not isinstance(values, CommentedMap):
        kind = "list" if isinstance(values, CommentedSeq) else "single value"
        fault = "nothing" if values is None else f"a {kind}"
        problem = Problem(1, "", "a study is a mapping of keys such as target and factors", fault)
        raise StudyError(where, (problem,))
    return Source(values)


def write(values: Mapping[str, Any]) -> str:
    """The text of a study file with these values, as `read` gives them or plain ones."""
    yaml, text = new_yaml(), StringIO()
    yaml.width = _UNFOLDED  # a key that is folded within braces cannot be read back
    yaml.default_flow_style = None
    yaml.dump(values, text)
    return text.getvalue()


def block_text(text: str) -> str:
    """The text, which `write` shows line by line if it has several lines."""
    shown: str = LiteralScalarString(text) if "\n" in text else text
    return shown


def plain(value: Any) -> Any:
    """A value that was read, without what YAML kept of its looks: comments on what is gone."""
    match value:
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list():
            return [plain(item) for item in value]
        case bool() | None:
            return value
        case int():
            return int(value)
        case float():
            return float(value)
        case _:
            return str(value)


def format_value(value: Any) -> str:
    """A value of the file as a person wrote it, cut where it is long."""
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        text = "{" + ", ".join(f"{key}: {format_value(item)}" for key, item in value.items()) + "}"
    elif isinstance(value, list):
        text = "[" + ", ".join(format_value(item) for item in value) + "]"
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _problem(text: str, error: Exception) -> Problem:
    match error:
        case RefusedError(found=fault, allowed=allowed):
            return Problem(_marked_line(error), "", "no study needs this", fault, allowed)
        case DuplicateKeyError():
            return Problem(_marked_line(error), "", "a key occurs twice", _words_of(error))
        case MarkedYAMLError():
            return Problem(_marked_line(error), "", "not YAML", _words_of(error))
        case ReaderError(position=position, character=int(character)):
            line = text.count("\n", 0, position) + 1
            return Problem(line, "", "not text", f"the character U+{character:04X}")
        case _:
            return Problem(1, "", "not YAML", str(error))


def _marked_line(error: MarkedYAMLError) -> int:
    mark = error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 1


def _words_of(error: MarkedYAMLError) -> str:
    return str(error.problem or error.context).splitlines()[0].removeprefix("found ")


def _line_of(value: Any, step: Step) -> int | None:
    if isinstance(value, CommentedMap) and step in value:
        return int(value.lc.key(step)[0]) + 1
    if isinstance(value, CommentedSeq) and isinstance(step, int) and step < len(value):
        return int(value.lc.item(step)[0]) + 1
    return None
