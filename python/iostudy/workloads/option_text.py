"""Formats workload options for study files and for the command line."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from iostudy import units
from iostudy.workloads.definition import Figure, WorkloadDefinition

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*|[0-9]+(?:[kMGT]i?B?|B|us|ms|s|min|h|%)")
"""Texts that need no quotes: names, paths, and sizes, counts and times with their units."""
_NO_TEXTS = ("true", "false", "null")

REQUIRED = "(required)"


def study_lines(definition: WorkloadDefinition) -> str:
    """The example as the ``workloads`` section of a study file."""
    return f"workloads:\n  - {definition.name}: {format_flow(dict(definition.example))}"


def example_command(definition: WorkloadDefinition) -> str:
    """The example as a command that can be copied into a shell."""
    if definition.only_simulated:
        return "iostudy simulate study.yaml"
    options = [f"{name}={_argument(value)}" for name, value in definition.example.items()]
    words = [word for option in options for word in ("-o", option)]
    return shlex.join(["iostudy", "bench", definition.name, *words])


def format_options(options: BaseModel, *, with_defaults: bool = True) -> dict[str, str]:
    """Options as a study file has them: ``{"size": "256MiB", "direct": "true"}``."""
    written = options.model_dump(mode="json", exclude_defaults=not with_defaults)
    return {name: _argument(value) for name, value in written.items() if value is not None}


def format_flow(value: Any) -> str:
    """A value as YAML on one line: ``{files: 2, size: 64MiB}``."""
    match value:
        case Mapping():
            return (
                "{"
                + ", ".join(f"{format_flow(k)}: {format_flow(item)}" for k, item in value.items())
                + "}"
            )
        case list() | tuple():
            return "[" + ", ".join(map(format_flow, value)) + "]"
        case str() if _PLAIN.fullmatch(value) and value.lower() not in _NO_TEXTS:
            return value
        case _:
            # What is JSON is YAML 1.2 too.
            return json.dumps(value, ensure_ascii=False)


def list_options(definition: WorkloadDefinition) -> list[tuple[str, str, str, str]]:
    """Return each option: name, default as written, allowed values, meaning."""
    fields = definition.options.model_fields
    # A workload with a required option has no complete set of defaults; the known ones are listed.
    defaults = format_options(definition.options.model_construct())
    return [
        (
            name,
            REQUIRED if field.is_required() else defaults.get(name, ""),
            describe_allowed(field),
            str(field.description),
        )
        for name, field in fields.items()
    ]


def example_options(definition: WorkloadDefinition) -> BaseModel:
    """The example, validated."""
    return definition.options.model_validate(definition.example)


def example_figures(definition: WorkloadDefinition) -> tuple[Figure, ...]:
    """Return the figures of the example, the decisive one first."""
    return definition.figures(example_options(definition))


def _argument(value: Any) -> str:
    """A text stands as it is; all else as YAML."""
    return value if isinstance(value, str) else format_flow(value)


_PARSED = {
    units.parse_size: "a size such as 256MiB",
    units.parse_count: "a count such as 250 or 10M",
    units.parse_seconds: "a time such as 300ms or 30s",
    units.parse_percent: "a percentage such as 3%",
}
_KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "a path",
}
_LIMITS = {"ge": "{} or more", "gt": "more than {}", "le": "{} or less", "lt": "less than {}"}
_MOST_KEYS = 8
"""The largest number of keys that is listed; the description covers more."""


def describe_allowed(field: FieldInfo) -> str:
    """Describe the allowed values of an option: ``a whole number, 1 to 4096``."""
    return _form(field.annotation, field.metadata)


def _form(kind: Any, metadata: Sequence[Any] = ()) -> str:
    for item in metadata:
        if isinstance(item, BeforeValidator) and item.func in _PARSED:
            return _PARSED[item.func]
    if kind in _KINDS:
        return _KINDS[kind] + _range(metadata)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _either([str(member.value) for member in kind])
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        keys = ", ".join(kind.model_fields)
        return f"a mapping of {keys}" if len(kind.model_fields) <= _MOST_KEYS else "a mapping"
    return _composed(get_origin(kind), get_args(kind))


def _composed(origin: Any, inner: tuple[Any, ...]) -> str:
    if origin is Annotated:
        return _form(inner[0], [every for part in inner[1:] for every in _single(part)])
    if origin is Literal:
        return _either([str(choice) for choice in inner])
    if origin in (Union, UnionType):
        return _either([_form(part) for part in inner if part is not NoneType])
    if origin is dict:
        return f"a mapping, each value {_form(inner[1])}"
    if origin in (list, tuple):
        return f"a list, each {_form(inner[0])}"
    raise TypeError(f"no words for {origin or inner}: an option of a kind that is new")


def _single(metadata: Any) -> Sequence[Any]:
    """Return the constraint of a Field(ge=1) inside Annotated; anything else unchanged."""
    return metadata.metadata if isinstance(metadata, FieldInfo) else (metadata,)


def _either(choices: Sequence[str]) -> str:
    *most, last = choices
    return f"{', '.join(most)} or {last}" if most else last


def _range(metadata: Sequence[Any]) -> str:
    """``, 1 to 4096`` or ``, more than 0``; empty where there is no limit."""
    limits = {
        name: format(getattr(item, name), "d" if isinstance(getattr(item, name), int) else "g")
        for item in metadata
        for name in _LIMITS
        if hasattr(item, name)
    }
    if {"ge", "le"} <= limits.keys():
        return f", {limits['ge']} to {limits['le']}"
    return "".join(f", {_LIMITS[name].format(limit)}" for name, limit in limits.items())
