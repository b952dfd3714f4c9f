"""`iostudy schema` prints the package file, and nothing else."""

from __future__ import annotations

import json
from importlib.resources import files

from typer.testing import CliRunner

from iostudy.cli.main import app


def test_printed_schema_is_the_packaged_file():
    result = CliRunner().invoke(app, ["schema"])
    assert result.exit_code == 0
    assert result.stdout == files("iostudy.study").joinpath("study.schema.json").read_text()
    assert json.loads(result.stdout)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
