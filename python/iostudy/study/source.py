"""A study file as text -> plain values, and where each of them stands in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from iostudy.errors import Problem, StudyError

Step = str | int


@dataclass(frozen=True)
class Source:
    """The values of a study file, and the line of each by its way from the top."""

    values: Mapping[str, Any]

    def line(self, path: Sequence[Step]) -> int:
        """The line, from 1, of the value at ``path``, or of the nearest thing that holds it."""
        line, value = 1, self.values
        for step in path:
            found = _line_of(value, step)
            if found is None:
                break
            line, value = found, value[step]  # type: ignore[index]
        return line


def read(text: str, where: str) -> Source:
    """Parse YAML 1.2 (so that ``none``, ``on`` and ``off`` are strings); StudyError if it is not.

    A key that stands twice is an error, as is anything but a mapping at the top.
    """
    try:
        values = YAML(typ="rt", pure=True).load(text)
    except DuplicateKeyError as error:
        raise StudyError(where, (_problem(error, "a key stands twice"),)) from error
    except MarkedYAMLError as error:
        raise StudyError(where, (_problem(error, "not YAML"),)) from error
    except (YAMLError, ValueError) as error:
        raise StudyError(where, (Problem(1, "", "not YAML", found=str(error)),)) from error
    if not isinstance(values, CommentedMap):
        found = "nothing" if values is None else f"a {_kind(values)}"
        problem = Problem(1, "", "a study is a mapping of keys such as target and factors", found)
        raise StudyError(where, (problem,))
    return Source(values)


def _problem(error: MarkedYAMLError, message: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    return Problem(line, "", message, found=str(error.problem or error.context).splitlines()[0])


def _line_of(value: Any, step: Step) -> int | None:
    if isinstance(value, CommentedMap) and step in value:
        return int(value.lc.key(step)[0]) + 1
    if isinstance(value, CommentedSeq) and isinstance(step, int) and step < len(value):
        return int(value.lc.item(step)[0]) + 1
    return None


def _kind(value: Any) -> str:
    return "list" if isinstance(value, CommentedSeq) else "single value"
