"""Collects all problems of a study file, each with its line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from iostudy.errors import Problem, StudyError
from iostudy.plugins import find_missing
from iostudy.study.fields import OpenSection
from iostudy.study.names import UnknownNameError
from iostudy.study.source import Source, Step, format_value

T = TypeVar("T")
_WORDS = {
    "bool_parsing": "write true or false",
    "bool_type": "write true or false",
    "dataclass_type": "a mapping is wanted here",
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
    "list_type": "a list is wanted here",
    "mapping_type": "a mapping is wanted here",
    "missing": "it is missing",
    "model_type": "a mapping is wanted here",
    "path_type": "write a text",
    "string_type": "write a text",
    "too_long": "too many; at most {max_length} are allowed",
    "too_short": "too few; at least {min_length} are wanted",
    "string_too_long": "too long; at most {max_length} characters are allowed",
    "string_too_short": "an empty text",
}
"""Expected value by pydantic's type of error; other types keep pydantic's message."""
_UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")

MAX_PROBLEMS = 100
"""As many as a person corrects at once; to look for similar names takes a millisecond for each."""

ModelT = TypeVar("ModelT", bound=BaseModel)
OpenT = TypeVar("OpenT", bound=OpenSection)
KeyPath = tuple[Step, ...]
"""The keys and indices that lead to a value of a study file."""


class ProblemCollector:
    """Tries one part of a file after another and keeps what is wrong with them."""

    def __init__(self, source: Source, where: str) -> None:
        self.source = source
        self.where = where
        self.problems: list[Problem] = []

    def attempt(self, path: KeyPath, parse: Callable[[Any], T], value: Any) -> T | None:
        """``parse(value)``, or None with a problem noted where it raised ValueError."""
        try:
            return parse(value)
        except ValueError as error:
            self.note(path, error, value)
            return None

    def model(self, path: KeyPath, model: type[ModelT], value: Any) -> ModelT | None:
        """A section validated by its pydantic model, or None with every problem of it noted."""
        try:
            return model.model_validate(value)
        except ValidationError as error:
            self._note_details(path, model, (), error)
            return None

    def open_section(self, path: KeyPath, model: type[OpenT], values: Any) -> OpenT | None:
        """A section of which every key is validated on its own; None for no mapping.

        Collects every problem; a wrong key is None until `finish` raises them all.
        """
        if not isinstance(values, Mapping):
            return self.model(path, model, values)
        names = model.names_by_key()
        for key in (key for key in values if key not in names):
            if install := find_missing(str(key)):
                self.add((*path, key), f"the plugin that has it is not installed; {install}")
            else:
                self.note((*path, key), UnknownNameError("key", str(key), names), key)
        valid = {
            name: self._key(path, model, key, values)
            for key, name in names.items()
            if key in values or model.model_fields[name].is_required()
        }
        return model.model_construct(**valid)

    def _key(
        self, path: KeyPath, model: type[OpenSection], key: str, values: Mapping[str, Any]
    ) -> Any:
        name = model.names_by_key()[key]
        if key not in values:
            self.add_missing(path, model, (key,))
            return None
        inner = _open_section_in(model.model_fields[name].annotation)
        if inner is not None:
            return self.open_section((*path, key), inner, values[key])
        try:
            return _adapter(model, name).validate_python(values[key])
        except ValidationError as error:
            self._note_details(path, model, (key,), error)
            return None

    def note(self, path: KeyPath, error: ValueError, value: Any) -> None:
        """Keep an error that was raised for the value at ``path``."""
        if isinstance(error, UnknownNameError):
            self.add(path, str(error), error.found, error.allowed, error.suggestion)
        else:
            self.add(path, str(error), found=format_value(value))

    def add(
        self, path: KeyPath, message: str, found: str = "", allowed: str = "", suggestion: str = ""
    ) -> None:
        """Keep a problem of the value at ``path``, once."""
        key, line = ".".join(str(step) for step in path), self.source.line(path)
        problem = Problem(line, key, message, found, allowed, suggestion)
        if problem in self.problems:
            return
        self.problems.append(problem)
        if len(self.problems) == MAX_PROBLEMS:
            self.finish()

    def add_missing(self, path: KeyPath, model: type[BaseModel], subpath: KeyPath) -> None:
        """Keep that a key is missing, at ``subpath`` below the section at ``path``."""
        texts = (" ".join(text.split()) for text in _find(model, subpath, "description"))
        described = next((f" ({text.rstrip('.')})" for text in texts), "")
        self.add((*path, *subpath), _WORDS["missing"] + described)

    def finish(self) -> None:
        """StudyError with all problems in the order of their lines, if there are any."""
        if self.problems:
            raise StudyError(self.where, tuple(sorted(self.problems, key=lambda p: p.line)))

    def _note_details(
        self, path: KeyPath, model: type[BaseModel], subpath: KeyPath, error: ValidationError
    ) -> None:
        """Keep what pydantic found at ``subpath`` below the section at ``path``."""
        for detail in error.errors(include_url=False):
            self._note_detail(path, model, (*subpath, *detail["loc"]), detail)

    def _note_detail(
        self, path: KeyPath, model: type[BaseModel], subpath: KeyPath, detail: ErrorDetails
    ) -> None:
        # Pydantic adds steps for alternatives and keys, which the file does not have.
        key = self.source.existing((*path, *subpath))
        cause = detail.get("ctx", {}).get("error")
        if detail["type"] in _UNKNOWN_KEY:
            self.note(
                key,
                UnknownNameError("key", str(subpath[-1]), _keys(model, subpath[:-1])),
                subpath[-1],
            )
        elif isinstance(cause, ValueError):
            self.note(key, cause, detail["input"])
        elif detail["type"] == "missing":
            self.add_missing(path, model, subpath)
        elif detail["type"] == "too_long":
            self.add(key, format_reason(detail), found=str(len(detail["input"])))
        else:
            examples = (
                f", such as {format_value(e)}" for e, *_ in _find(model, subpath, "examples")
            )
            message = format_reason(detail) + next(examples, "")
            allowed = ", ".join(_keys(model, subpath))
            self.add(key, message, found=format_value(detail["input"]), allowed=allowed)


@cache
def _adapter(model: type[OpenSection], name: str) -> TypeAdapter[Any]:
    return TypeAdapter(model.model_fields[name].rebuild_annotation())


def _open_section_in(kind: Any) -> type[OpenSection] | None:
    """The open section in a type that is one, or one or None."""
    kinds = (member for member in (kind, *get_args(kind)) if isinstance(member, type))
    return next((section for section in kinds if issubclass(section, OpenSection)), None)


def _keys(model: type[BaseModel], subpath: KeyPath) -> tuple[str, ...]:
    """The keys of the section at a subpath; () for anything but a section."""
    return tuple(chain.from_iterable(_find(model, subpath, "properties")))


def _find(model: type[BaseModel], subpath: KeyPath, keyword: str) -> Iterator[Any]:
    """What the model's JSON Schema has under a keyword for the values at a subpath."""
    whole = _schema(model)
    return (schema[keyword] for schema in _schemas(whole, whole, subpath) if keyword in schema)


@cache
def _schema(model: type[BaseModel]) -> Mapping[str, Any]:
    """The JSON Schema of a model, which takes some 80 ms to make."""
    return model.model_json_schema()


def _schemas(
    whole: Mapping[str, Any], here: Mapping[str, Any], subpath: KeyPath
) -> Iterator[Mapping[str, Any]]:
    """Every schema of the values at a subpath, also behind references."""
    if not subpath:
        yield here
    else:
        below = here.get("properties", {}).get(subpath[0]) or here.get("additionalProperties")
        if isinstance(below, dict):
            yield from _schemas(whole, below, subpath[1:])
    others = here.get("anyOf", ())
    if "$ref" in here:
        others = (*others, whole["$defs"][here["$ref"].removeprefix("#/$defs/")])
    for other in others:
        yield from _schemas(whole, other, subpath)


def format_reason(detail: ErrorDetails) -> str:
    """What pydantic has against a value, in words for the author of a study."""
    words = _WORDS.get(detail["type"])
    if words is None:
        return detail["msg"].removeprefix("Value error, ")
    return words.format_map(detail.get("ctx", {}))
