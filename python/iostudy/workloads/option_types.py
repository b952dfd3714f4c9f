"""Types of options and of keys of study files: sizes, counts, times, percentages and lists."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)
from pydantic_core import CoreSchema

from iostudy import units

WRITTEN = "written"
"""Attribute of a number from a study file: its text in the file, where that is not the number's."""


class _OrText:
    """Says in a JSON Schema that a list may be written as a text with commas."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [handler(schema), {"type": "string"}]}


T = TypeVar("T")
N = TypeVar("N", int, float)


def at_most(limit: N, written: Callable[[N], str]) -> AfterValidator:
    """A bound that an error gives as a study file has it: ``at most 168h``."""

    def check(value: N) -> N:
        if value > limit:
            raise ValueError(f"out of range; allowed: at most {written(limit)}")
        return value

    return AfterValidator(check)


MAX_COUNT = 10**12
"""Largest count of rows, records or files: TeraSort's largest published run (100 TB)."""

MAX_SECONDS = 7 * 24 * 3600
"""Longest time in a trial: a week, in which every host changes."""

MAX_PAUSE_SECONDS = 3600
"""Longest uncounted time of a trial and longest pause: an hour."""

SIZE_FORM = WithJsonSchema({"type": ["number", "string"], "pattern": units.SIZE_PATTERN})
PERCENT_FORM = WithJsonSchema({"type": "string", "pattern": units.PERCENT_PATTERN})

Size = Annotated[
    int,
    BeforeValidator(units.parse_size),
    Field(gt=0),
    PlainSerializer(units.format_size, return_type=str, when_used="json"),
    SIZE_FORM,
]
"""Bytes, written in a study file and in reports as a size such as ``256MiB``."""

Count = Annotated[
    int,
    BeforeValidator(units.parse_count),
    Field(gt=0),
    at_most(MAX_COUNT, units.format_count),
    PlainSerializer(units.format_count, return_type=str, when_used="json"),
    WithJsonSchema({"type": ["number", "string"], "pattern": units.COUNT_PATTERN}),
]
"""A number, written in a study file as such or short: ``10M`` is ten million."""

Seconds = Annotated[
    float,
    BeforeValidator(units.parse_seconds),
    Field(ge=0),
    at_most(MAX_SECONDS, units.format_exact_seconds),
    PlainSerializer(units.format_exact_seconds, return_type=str, when_used="json"),
    WithJsonSchema({"type": ["number", "string"], "pattern": units.SECONDS_PATTERN}),
]
"""A time in seconds, written in a study file with its unit: ``30s``, ``300ms``, ``40min``."""

Pause = Annotated[Seconds, at_most(MAX_PAUSE_SECONDS, units.format_exact_seconds)]
"""A time in which a trial counts nothing."""


Percent = Annotated[
    float,
    BeforeValidator(units.parse_percent),
    Field(ge=0, le=1),
    PlainSerializer(units.format_exact_percent, return_type=str, when_used="json"),
    PERCENT_FORM,
]
"""A share from 0 to 1, written in a study file as a percentage such as ``30%``."""


_NUMBERS: Mapping[Any, str] = {
    int: "write a whole number",
    float: "write a number",
    int | None: "write a whole number",
    float | None: "write a number",
}


def _split(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return [item.strip() for item in value.split(",")] if value.strip() else []


def _joined(values: tuple[Any, ...]) -> str | list[str]:
    texts = [str(value) for value in values]
    is_text = any(texts) and not any("," in text for text in texts)
    return ", ".join(texts) if is_text else texts


TextList = Annotated[
    tuple[T, ...], BeforeValidator(_split), PlainSerializer(_joined, when_used="json"), _OrText()
]
"""Several names or paths: a list, or a text with commas, which a factor can have as its level."""


class Options(BaseModel):
    """Base of all options: frozen, without unknown names."""

    # A schema is built when it is first used: those of all workloads take a fifth of a start.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_true_for_1(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse booleans for numbers, which pydantic would accept as 0 and 1."""
        field = cls.model_fields[str(info.field_name)]
        parsed = any(isinstance(item, BeforeValidator) for item in field.metadata)
        if isinstance(value, bool) and field.annotation in _NUMBERS and not parsed:
            raise ValueError(_NUMBERS[field.annotation])
        return value


def parse_text(given: Any) -> str:
    """A text or a number as the study file has it: 1.10 stays 1.10; ValueError for others."""
    if given is None or isinstance(given, list | tuple | Mapping):
        kind = "null" if given is None else "a list or a mapping"
        raise ValueError(f"{kind} is not a text; put the text in quotes")
    return str(given).lower() if isinstance(given, bool) else str(getattr(given, WRITTEN, given))


def parse_assignments(given: Any) -> dict[str, str]:
    """The texts by name; ValueError for anything but a mapping or a text of assignments."""
    if isinstance(given, str):
        pairs = (word.partition("=") for word in shlex.split(given))
        return {name: value for name, _, value in pairs}
    if not isinstance(given, Mapping):
        raise ValueError("write a mapping such as {A: 1}, or a text such as A=1")
    return {str(name): parse_text(value) for name, value in given.items()}


def format_assignments(given: Mapping[str, str]) -> str:
    """The text that `parse_assignments` reads."""
    return shlex.join(f"{name}={value}" for name, value in given.items())
