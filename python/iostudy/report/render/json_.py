"""JSON documents and their schemas; ``schema.json`` describes report.json."""

from __future__ import annotations

import json
from typing import Any

from iostudy.report.base import Value
from iostudy.report.values import Report


def render(value: Value) -> str:
    """``report.json``, or another document of values: UTF-8 text; what is not known is null."""
    return value.model_dump_json(indent=2) + "\n"


def render_compact(value: Value) -> str:
    """The same values without the spaces that people read by."""
    return value.model_dump_json()


def build_schema(of: type[Value] = Report) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a document.

    Files: ``schema.json`` of report.json, ``bench``, ``comparison``, ``fleet``, ``power``,
    ``selftest`` and ``watched.schema.json`` in this package, ``check``, ``doctor`` and
    ``run.schema.json`` in ``cli``.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **of.model_json_schema(mode="serialization"),
    }


def format_schema(of: type[Value] = Report) -> str:
    """The content of the file with the schema."""
    return json.dumps(build_schema(of), indent=2, ensure_ascii=False) + "\n"
