"""Types of study-file keys: each checks a value and gives its JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic_core import InitErrorDetails

from iostudy import units
from iostudy.study.names import UnknownNameError, scalar_text
from iostudy.study.source import format_value
from iostudy.workloads.option_types import Options

T = TypeVar("T")

STRICT_KEYS = ConfigDict(extra="forbid", use_attribute_docstrings=True)
"""Of a dataclass that is a section: unknown keys are errors."""

SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean"]}
Scalar = Annotated[str, BeforeValidator(scalar_text), WithJsonSchema(SCALAR)]
"""A single value, as the file has it."""

Entries = Annotated[dict[Any, Any], Field(min_length=1)]
"""A mapping whose entries are checked one by one, against catalogs or other sections."""

CATALOG = "$catalog"


def from_catalog(name: str) -> WithJsonSchema:
    """What `iostudy.study.json_schema` makes of the catalogs of settings and workloads."""
    return WithJsonSchema({CATALOG: name})


class StudySection(Options):
    """A mapping of the file in which unknown keys are errors; the text below a key describes it."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class OpenSection(StudySection):
    """A section whose valid keys are used while others are wrong, to find all problems at once."""

    @classmethod
    def names_by_key(cls) -> dict[str, str]:
        """Each key of the file with the name of its field."""
        return {field.alias or name: name for name, field in cls.model_fields.items()}


def one_of(kind: str, names: Iterable[str]) -> BeforeValidator:
    """A name from a list, which is of what ``kind`` says; UnknownNameError for any other."""
    allowed = tuple(map(str, names))

    def require(value: Any) -> str:
        if value not in allowed:
            raise UnknownNameError(kind, format_value(value), allowed)
        return str(value)

    return _checked(require, {"enum": list(allowed)})


def whole(least: int, most: int) -> BeforeValidator:
    """A whole number within limits, which are part of it."""

    def require(value: Any) -> int:
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or not least <= value <= most:
            raise ValueError(f"a whole number from {least} to {most} is wanted")
        return int(value)

    return _checked(require, {"type": "integer", "minimum": least, "maximum": most})


def share(allowed: str, within: Callable[[float], bool]) -> BeforeValidator:
    """A percentage as a fraction; ``allowed`` gives in an error what is ``within`` its limits."""

    def require(value: Any) -> float:
        fraction = units.parse_percent(str(value))
        if not within(fraction):
            raise ValueError(f"out of range; allowed: {allowed}")
        return fraction

    return _checked(require, {"type": "string", "pattern": units.PERCENT_PATTERN})


def _checked(require: Callable[[Any], Any], schema: dict[str, Any]) -> BeforeValidator:
    return BeforeValidator(require, json_schema_input_type=Annotated[Any, WithJsonSchema(schema)])


def parse_entries(parse: Callable[[str, Any], T], given: Mapping[str, Any]) -> dict[str, T]:
    """Each value of a mapping parsed with its key; ValidationError with all that are wrong."""
    parsed, errors = {}, []
    for key, value in given.items():
        try:
            parsed[key] = parse(key, value)
        except ValueError as error:
            detail = InitErrorDetails(
                type="value_error", loc=(key,), input=value, ctx={"error": error}
            )
            errors.append(detail)
    if errors:
        raise ValidationError.from_exception_data("entries", errors)
    return parsed


def _refuse_true(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("write a number")
    return value


NOT_TRUE = BeforeValidator(_refuse_true)
"""Pydantic takes true for 1."""
