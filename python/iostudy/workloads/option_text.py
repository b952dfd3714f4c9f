"""Formats workload options for study files and for the command line."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from iostudy.workloads.allowed_values import describe_allowed
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
