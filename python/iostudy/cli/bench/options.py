"""Options of a workload from the command line: ``KEY=VALUE``, and YAML where a value has parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from iostudy.errors import StudyError, UsageError
from iostudy.study.names import UnknownNameError
from iostudy.study.problems import format_reason
from iostudy.study.source import read
from iostudy.workloads.definition import WorkloadDefinition

_BRACKETS = ("[", "{")


def parse_options(definition: WorkloadDefinition, given: Sequence[str]) -> BaseModel:
    """Parse the options of ``-o``; UsageError lists all problems.

    A list or mapping in YAML is parsed as such, unless the workload only accepts the text.
    """
    texts = dict(map(_split_assignment, given))
    parsed = {key: value for key, text in texts.items() if (value := _parse_yaml(text)) is not None}
    try:
        return definition.options.model_validate(texts | parsed)
    except ValidationError as error:
        as_text = {str(detail["loc"][0]) for detail in error.errors() if detail["loc"]}
        kept = {key: value for key, value in parsed.items() if key not in as_text}
        try:
            return definition.options.model_validate(texts | kept)
        except ValidationError:
            raise _invalid_options(definition, error) from error


def _split_assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise _usage_error("options as KEY=VALUE", f"{text} has no value", f"write -o {key}=VALUE")
    return key, value


def _parse_yaml(text: str) -> Any:
    """The list or mapping that a text is in YAML; None for any other."""
    if not text.lstrip().startswith(_BRACKETS):
        return None
    try:
        # Within a mapping, for the reader is one of whole files.
        return read(f"value: {text}", "the command line").values["value"]
    except StudyError:
        return None


def _invalid_options(definition: WorkloadDefinition, error: ValidationError) -> UsageError:
    found = "; ".join(_describe_error(detail, definition) for detail in error.errors())
    allowed = ", ".join(definition.options.model_fields)
    remedy = f"the options are {allowed}; `iostudy workloads {definition.name}` describes them"
    return _usage_error(f"options of {definition.name}", found, remedy)


def _describe_error(detail: ErrorDetails, definition: WorkloadDefinition) -> str:
    key = ".".join(map(str, detail["loc"])) or "together"
    if detail["type"] != "extra_forbidden" or len(detail["loc"]) > 1:
        return f"{key}: {format_reason(detail)}"
    unknown = UnknownNameError("option", key, definition.options.model_fields)
    meant = f", did you mean {unknown.suggestion}?" if unknown.suggestion else ""
    return f"{key}: {unknown}{meant}"


def _usage_error(wanted: str, found: str, remedy: str) -> UsageError:
    return UsageError(wanted, found=found, where="the command line", remedy=remedy)
