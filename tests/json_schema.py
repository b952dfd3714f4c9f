"""Validation of a document against its JSON Schema, with every field declared."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema


def assert_conforms(document: object, schema: dict[str, Any]) -> None:
    """Kinds, enums and unknown fields as any validator finds them; and no field was forgotten."""
    _build_validator(json.dumps(schema)).validate(document)
    _complete(document, schema, schema["$defs"])


@cache
def _build_validator(schema: str) -> jsonschema.Draft202012Validator:
    """Return the validator of a schema, which is checked once: that takes longer than documents."""
    validator = jsonschema.Draft202012Validator(json.loads(schema))
    validator.check_schema(validator.schema)
    return validator


def _complete(value: object, schema: dict[str, Any], defs: dict[str, Any]) -> None:
    if "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        if value is None:
            return
        schema = next(option for option in schema["anyOf"] if option.get("type") != "null")
        _complete(value, schema, defs)
        return
    if isinstance(value, list) and "items" in schema:
        for item in value:
            _complete(item, schema["items"], defs)
    if isinstance(value, dict):
        if "properties" in schema:
            assert set(value) == set(schema["properties"])
        for name, item in value.items():
            own = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            if isinstance(own, dict):
                _complete(item, own, defs)
