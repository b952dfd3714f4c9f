"""JSON documents and their schemas; ``schema.json`` describes report.json."""

from __future__ import annotations

import json
from typing import Any

from iostudy.plugins import installed
from iostudy.report.base import Value
from iostudy.report.values import report_type


def render(value: Value) -> str:
    """``report.json``, or another document of values: UTF-8 text; what is not known is null."""
    return value.model_dump_json(indent=2) + "\n"


def build_schema(of: type[Value] | None = None) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a document, by default of report.json.

    Topics of plugins are there where these are installed.

    Files: ``schema.json`` of report.json, ``bench``, ``comparison``, ``fleet``, ``power``,
    ``selftest`` and ``watched.schema.json`` in this package, ``check``, ``doctor`` and
    ``run.schema.json`` in ``cli``.
    """
    schema = (of or report_type()).model_json_schema(mode="serialization")
    if of is None:
        optional = {name for plugin in installed() for name in plugin.topics}
        schema["required"] = [name for name in schema["required"] if name not in optional]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def format_schema(of: type[Value] | None = None) -> str:
    """The content of the file with the schema."""
    return json.dumps(build_schema(of), indent=2, ensure_ascii=False) + "\n"
