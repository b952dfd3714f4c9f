"""The report as JSON: a dump of its values, in the form that ``schema.json`` describes."""

from __future__ import annotations

import json
from typing import Any

from iostudy.report.values import Report


def render(report: Report) -> str:
    """``report.json``: UTF-8 text; what is not known is null."""
    return report.model_dump_json(indent=2) + "\n"


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of ``report.json``; ``schema.json`` in this package is its copy."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Report.model_json_schema(mode="serialization"),
    }


def schema_text() -> str:
    """The content of ``schema.json``."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
