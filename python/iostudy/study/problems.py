"""Collects all problems of a study file, each with its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from iostudy.errors import Problem, StudyError
from iostudy.study.names import UnknownNameError
from iostudy.study.source import Source, Step

T = TypeVar("T")
_WORDS = {
    "bool_parsing": "write true or false",
    "bool_type": "write true or false",
    "dict_type": "a mapping is wanted here",
    "finite_number": "write a finite number",
    "float_parsing": "write a number",
    "float_type": "write a number",
    "int_parsing": "write a whole number",
    "int_type": "write a whole number",
    "int_from_float": "write a whole number",
    "greater_than": "out of range; allowed: more than {gt}",
    "greater_than_equal": "out of range; allowed: {ge} or more",
    "less_than": "out of range; allowed: less than {lt}",
    "less_than_equal": "out of range; allowed: {le} or less",
    "string_type": "write a text",
    "model_type": "a mapping is wanted here",
    "missing": "it is missing",
    "too_long": "too many; at most {max_length} are allowed",
    "too_short": "too few; at least {min_length} are wanted",
    "string_too_long": "too long; at most {max_length} characters are allowed",
}
"""What pydantic calls an error -> what is wanted; its own errors stay as they are."""

_OF_KEY = "[key]"
"""What pydantic puts at the end of the way to a key that is wrong itself."""

MAX_PROBLEMS = 100
"""As many as a person corrects at once; to look for similar names takes a millisecond for each."""

ModelT = TypeVar("ModelT", bound=BaseModel)
Path = tuple[Step, ...]


class ProblemCollector:
    """Tries one part of a file after another and keeps what is wrong with them."""

    def __init__(self, source: Source, where: str) -> None:
        self.source = source
        self.where = where
        self.problems: list[Problem] = []

    def attempt(self, path: Path, parse: Callable[[Any], T], value: Any) -> T | None:
        """``parse(value)``, or None with a problem noted where it raised ValueError."""
        try:
            return parse(value)
        except ValueError as error:
            self.note(path, error, value)
            return None

    def model(self, path: Path, model: type[ModelT], value: Any) -> ModelT | None:
        """A section validated by its pydantic model, or None with every problem of it noted."""
        if not isinstance(value, Mapping):
            allowed = ", ".join(model.model_fields)
            self.add(path, "a mapping is wanted here", found=format_value(value), allowed=allowed)
            return None
        try:
            return model.model_validate(value)
        except ValidationError as error:
            for detail in error.errors():
                self._add_detail(path, model, detail)
            return None

    def note(self, path: Path, error: ValueError, value: Any) -> None:
        """Keep an error that was raised for the value at ``path``."""
        if isinstance(error, UnknownNameError):
            self.add(path, str(error), error.found, error.allowed, error.suggestion)
        else:
            self.add(path, str(error), found=format_value(value))

    def add(
        self, path: Path, message: str, found: str = "", allowed: str = "", suggestion: str = ""
    ) -> None:
        """Keep a problem of the value at ``path``."""
        way, line = ".".join(str(step) for step in path), self.source.line(path)
        self.problems.append(Problem(line, way, message, found, allowed, suggestion))
        if len(self.problems) == MAX_PROBLEMS:
            self.finish()

    def finish(self) -> None:
        """StudyError with all problems in the order of their lines, if there are any."""
        if self.problems:
            raise StudyError(self.where, tuple(sorted(self.problems, key=lambda p: p.line)))

    def _add_detail(self, path: Path, model: type[BaseModel], detail: ErrorDetails) -> None:
        way = tuple(step for step in detail["loc"] if step != _OF_KEY)
        place = (*path, *way)
        cause = detail.get("ctx", {}).get("error")
        if detail["type"] == "extra_forbidden":
            key = str(way[-1])
            self.note(place, UnknownNameError("key", key, section_keys(model, way[:-1])), key)
        elif isinstance(cause, ValueError):
            self.note(place, cause, detail["input"])
        else:
            self.add(place, format_reason(detail), found=format_value(detail["input"]))


def section_keys(model: type[BaseModel], way: Sequence[Step]) -> tuple[str, ...]:
    """The keys of the section that a way leads to; each of its steps may be left out in a file."""
    here: Any = model
    for step in way:
        here = _at(here, step)
    return tuple(_section(here).model_fields)


def _at(kind: Any, step: Step) -> Any:
    """The type of what stands under a key of a section, or of a mapping of labels to sections."""
    if get_origin(kind) is dict:
        return get_args(kind)[1]
    return _section(kind).model_fields[str(step)].annotation


def _section(kind: Any) -> type[BaseModel]:
    """The model in a type that is one, or one or None."""
    model: type[BaseModel]
    (model,) = (each for each in get_args(kind) or (kind,) if issubclass(each, BaseModel))
    return model


def format_reason(detail: ErrorDetails) -> str:
    """What pydantic has against a value, in words for the author of a study."""
    words = _WORDS.get(detail["type"])
    if words is None:
        return detail["msg"].removeprefix("Value error, ")
    return words.format_map(detail.get("ctx", {}))


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
