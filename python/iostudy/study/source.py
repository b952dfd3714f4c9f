"""A study file as text -> plain values, and where each of them stands in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    NodeEvent,
    ScalarEvent,
)

from iostudy.errors import Problem, StudyError

MAX_DEPTH = 20
_UNFOLDED = 1_000_000

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

    A key that stands twice is an error, as is anything but a mapping at the top, and YAML's ways to
    say more than is written: a few lines of aliases can stand for gigabytes, and what an alias or
    a merge key brings in has no line of its own.
    """
    try:
        _refuse_more_than_is_written(text, where)
        values = _yaml().load(text)
    except DuplicateKeyError as error:
        raise StudyError(where, (_problem(error, "a key stands twice"),)) from error
    except MarkedYAMLError as error:
        raise StudyError(where, (_problem(error, "not YAML"),)) from error
    except (YAMLError, ValueError, IndexError) as error:  # ruamel fails so on the scalar -_
        raise StudyError(where, (Problem(1, "", "not YAML", found=str(error)),)) from error
    if not isinstance(values, CommentedMap):
        found = "nothing" if values is None else f"a {_kind(values)}"
        problem = Problem(1, "", "a study is a mapping of keys such as target and factors", found)
        raise StudyError(where, (problem,))
    return Source(values)


def write(values: Mapping[str, Any]) -> str:
    """The text of a study file with these values, as `read` gives them or plain ones."""
    yaml, text = _yaml(), StringIO()
    yaml.width = _UNFOLDED  # a key that is folded within braces cannot be read back
    yaml.default_flow_style = None
    yaml.dump(values, text)
    return text.getvalue()


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


def _refuse_more_than_is_written(text: str, where: str) -> None:
    """StudyError at the first alias, merge key or tag, or where values are nested too deeply."""
    depth = 0
    for event in _yaml().parse(text):
        depth += isinstance(event, CollectionStartEvent)
        depth -= isinstance(event, CollectionEndEvent)
        refused = _refused(event) if depth <= MAX_DEPTH else f"more than {MAX_DEPTH} levels deep"
        if refused:
            line = event.start_mark.line + 1
            allowed = "plain mappings, lists and values"
            problem = Problem(line, "", "no study needs this", found=refused, allowed=allowed)
            raise StudyError(where, (problem,))


def _refused(event: Any) -> str:
    match event:
        case AliasEvent(anchor=anchor):
            return f"the alias *{anchor}"
        case NodeEvent(anchor=str(anchor)):
            return f"the anchor &{anchor}"
        case CollectionStartEvent(tag=str(tag)) | ScalarEvent(tag=str(tag)):
            return f"the tag {tag}"
        case ScalarEvent(value="<<"):
            return "the merge key <<"
        case _:
            return ""


def _yaml() -> YAML:
    return YAML(typ="rt", pure=True)


def _problem(error: MarkedYAMLError, message: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    found = str(error.problem or error.context).splitlines()[0].removeprefix("found ")
    return Problem(line, "", message, found)


def _line_of(value: Any, step: Step) -> int | None:
    if isinstance(value, CommentedMap) and step in value:
        return int(value.lc.key(step)[0]) + 1
    if isinstance(value, CommentedSeq) and isinstance(step, int) and step < len(value):
        return int(value.lc.item(step)[0]) + 1
    return None


def _kind(value: Any) -> str:
    return "list" if isinstance(value, CommentedSeq) else "single value"
