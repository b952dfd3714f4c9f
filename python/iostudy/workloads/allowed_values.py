"""Describes the allowed values of an option in words, from the type of its field."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from iostudy import units

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
    for each in metadata:
        if isinstance(each, BeforeValidator) and each.func in _PARSED:
            return _PARSED[each.func]
    if kind in _KINDS:
        return _KINDS[kind] + _range(metadata)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _either([str(each.value) for each in kind])
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        keys = ", ".join(kind.model_fields)
        return f"a mapping of {keys}" if len(kind.model_fields) <= _MOST_KEYS else "a mapping"
    return _composed(get_origin(kind), get_args(kind))


def _composed(origin: Any, inner: tuple[Any, ...]) -> str:
    if origin is Annotated:
        return _form(inner[0], [every for each in inner[1:] for every in _single(each)])
    if origin is Literal:
        return _either([str(each) for each in inner])
    if origin in (Union, UnionType):
        return _either([_form(each) for each in inner if each is not NoneType])
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
        name: format(getattr(each, name), "d" if isinstance(getattr(each, name), int) else "g")
        for each in metadata
        for name in _LIMITS
        if hasattr(each, name)
    }
    if {"ge", "le"} <= limits.keys():
        return f", {limits['ge']} to {limits['le']}"
    return "".join(f", {_LIMITS[name].format(limit)}" for name, limit in limits.items())
