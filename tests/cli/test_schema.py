"""`iostudy schema` prints the package file, and nothing else."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from typer.testing import CliRunner

from iostudy.cli.main import app
from iostudy.settings import catalog


@pytest.mark.all_plugins
def test_printed_schema_is_the_packaged_file(monkeypatch: pytest.MonkeyPatch) -> None:
    # Other tests of this process may have declared settings.
    monkeypatch.setattr(catalog, "_declared", {})
    result = CliRunner().invoke(app, ["schema"])
    assert result.exit_code == 0
    assert result.stdout == files("iostudy.study").joinpath("study.schema.json").read_text()
    assert json.loads(result.stdout)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
