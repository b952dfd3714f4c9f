"""Generated schemas describe every field; `make check` compares the files with them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tools.docs.documents import DOCUMENTS

SCHEMAS = [path for path in DOCUMENTS if path.endswith("schema.json")]
STUDY_FILE = "python/iostudy/study/study.schema.json"


def models(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield schema["title"], schema
    defined = schema.get("$defs", {})
    yield from ((name, model) for name, model in defined.items() if name != "JsonValue")


@pytest.mark.parametrize("path", [path for path in SCHEMAS if path != STUDY_FILE])
def test_each_model_and_field_of_a_json_document_has_a_description(path):
    fields = {}
    for name, model in models(json.loads(DOCUMENTS[path]())):
        fields[name] = model
        for field, values in model.get("properties", {}).items():
            fields[f"{name}.{field}"] = values
    assert [name for name, own in fields.items() if not own.get("description")] == []


def test_model_names_of_schemas_are_unambiguous():
    # Pydantic writes the module path before names that two models share.
    schemas = (json.loads(DOCUMENTS[path]()) for path in SCHEMAS if path != STUDY_FILE)
    names = [name for schema in schemas for name, _ in models(schema)]
    assert [name for name in names if "__" in name] == []
