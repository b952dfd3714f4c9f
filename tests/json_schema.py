"""Whether a document has the form of its JSON Schema, as far as pydantic's schemas go."""

from __future__ import annotations

from typing import Any


def assert_conforms(document: object, schema: dict[str, Any]) -> None:
    """Names and kinds, followed through references; enough to catch a field that was forgotten."""
    _conforms(document, schema, schema["$defs"])


def _conforms(value: object, schema: dict[str, Any], defs: dict[str, Any]) -> None:
    if "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        if value is None:
            return
        schema = next(option for option in schema["anyOf"] if option.get("type") != "null")
        _conforms(value, schema, defs)
        return
    if "enum" in schema:
        assert value in schema["enum"]
    if isinstance(value, list):
        for item in value:
            _conforms(item, schema["items"], defs)
    if isinstance(value, dict) and "properties" in schema:
        assert set(value) == set(schema["properties"])
        for name, item in value.items():
            _conforms(item, schema["properties"][name], defs)
