"""``iostudy report``: a study, published figures, or both."""

from __future__ import annotations

import json

import pytest

from tests.cli.test_commands import WITHOUT_ROOT


@pytest.mark.parametrize("name", ["R1", "R2", "R3", "R4", "R5"])
def test_published_figures_alone(program, name):
    done = program("report", "--reference", name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{name}: ")
    assert "Open questions" in done.stdout


def test_the_forms_of_published_figures(program):
    markdown = program("report", "--reference", "R2", "--format", "markdown").stdout
    assert "| nnthroughput | open_rate | no log | 126119 op/s |" in markdown
    document = json.loads(program("report", "--reference", "R2", "--format", "json").stdout)
    assert document["published"]["year"] == 2008
    page = program("report", "--reference", "R2", "--format", "html")
    assert page.returncode == 2
    assert "remedy: name an output folder" in page.stderr


def test_unknown_reference_is_refused(program):
    unknown = program("report", "--reference", "R9")
    assert unknown.returncode == 2
    assert "use one of R1, R2, R3, R4, R5" in unknown.stderr
    neither = program("report")
    assert neither.returncode == 2
    assert "neither DIR nor --reference" in neither.stderr


def test_published_figures_with_a_study_that_names_none(program):
    program.write(WITHOUT_ROOT)
    assert program.run_study().returncode == 0
    before = (program.out / "report.json").read_bytes()
    document = json.loads(program("report", "out", "--reference", "R5", "--format", "json").stdout)
    assert document["reference"]["name"] == "R5"
    assert json.loads(program("report", "out", "--format", "json").stdout)["reference"] is None
    assert (program.out / "report.json").read_bytes() == before
