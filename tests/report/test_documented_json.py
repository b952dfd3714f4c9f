"""docs/report-json.md names existing fields, and its examples run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from iostudy.report.render import json_
from iostudy.report.topics.verdicts import Result
from tests.report.factory import report

pytestmark = pytest.mark.child

PAGE = (Path(__file__).parents[2] / "docs/report-json.md").read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "report.json").write_text(json_.render(report()), "utf-8")
    return tmp_path


def example(language: str) -> str:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[0]


def fields_of_table(section: str) -> set[str]:
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_documented_fields_are_in_the_document() -> None:
    document = json.loads(json_.render(report()))
    named = fields_of_table("Fields")
    assert len(named) > 10
    assert named <= set(document)
    assert f"`{document['schema']}`" in PAGE


def test_all_fields_of_a_result_are_documented() -> None:
    assert fields_of_table("Results") == set(Result.model_fields)


def test_the_example_with_polars_runs(folder: Path) -> None:
    command = [sys.executable, "-c", example("python")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert "kyber" in done.stdout


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
def test_the_example_with_jq_runs(folder: Path) -> None:
    command = ["sh", "-c", example("sh")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert "file-writes\tbfq\tworse\n" in done.stdout
