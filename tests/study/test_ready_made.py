"""Ready-made studies are as their comments and the documentation describe them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from tools.docs.field_reports import list_own_figures

from iostudy.errors import StudyError, UsageError
from iostudy.study import library, reference
from iostudy.study.source import read
from tests.study.files import load_ready_made

DOCS = Path(__file__).parents[2] / "docs"
VALUES = {"four": 4, "six": 6, "seven": 7, "eight": 8, "nine": 9, "twelve": 12, "fifteen": 15}


@cache
def sized_names() -> list[str]:
    """The names of the other sizes of ready-made studies."""
    texts = {name: library.find_study(name).read_text() for name in library.names()}
    return [
        f"{name}-{size}"
        for name in texts
        for size in read(texts[name], name).values.get("sizes", ())
    ]


def comments(name: str) -> str:
    lines = library.find_study(name).read_text().splitlines()
    return " ".join(line.strip(" #") for line in lines if line.lstrip().startswith("#"))


def counted(pattern: str) -> list[tuple[str, int]]:
    """The studies whose comments have a number word before the pattern, and the number."""
    found = ((name, re.search(rf"(\w+) {pattern}", comments(name))) for name in library.names())
    return [
        (name, VALUES[match[1].lower()]) for name, match in found if match and match[1] != "Many"
    ]


@pytest.mark.parametrize(("name", "number"), counted("comparisons share the risk"))
def test_a_comment_counts_the_comparisons(name: str, number: int) -> None:
    assert load_ready_made(name).comparisons == number


@pytest.mark.parametrize(("name", "number"), counted("runs of a Plackett-Burman design and their"))
@pytest.mark.all_plugins
def test_a_comment_counts_the_runs_of_a_design_without_mirror_images(
    name: str, number: int
) -> None:
    study = load_ready_made(name)
    assert study.design is not None
    assert len(study.design.runs(study.factors)) == 2 * number


def test_a_study_that_promises_published_figures_next_to_its_own_has_some() -> None:
    for name in library.names():
        if re.search(r"(figures|curves) (are )?next to yours", comments(name)):
            assert list_own_figures(load_ready_made(name)), name


@pytest.mark.all_plugins
def test_every_size_is_a_study_of_its_own() -> None:
    names = sized_names()
    assert names
    for name in names:
        study = library.load_study(name)
        assert study.name == name
        assert not re.search("^sizes:", study.text, re.MULTILINE)
        assert library.command_argument(name, study.text) == name


OWN = """\
question: Which record size?
target: .
factors: {workload.record_size: [1MiB, 64KiB]}
workloads: [{io: {label: file-reads}}]
decide: {blocks: [5, 20]}
sizes: {smoke: {decide: {blocks: [3, 4]}}}
"""


def test_a_file_of_anyone_has_its_sizes(tmp_path: Path) -> None:
    (tmp_path / "my own.yaml").write_text(OWN)
    study = library.load_study(str(tmp_path / "my own-smoke.yaml"))
    assert (study.name, study.decide.max_blocks) == ("my-own-smoke", 4)
    assert library.load_study(str(tmp_path / "my own.yaml")).decide.max_blocks == 20
    assert library.load_study(str(library.FOLDER / "merging-smoke.yaml")).name == "merging-smoke"


@pytest.mark.parametrize("name", ["my-large.yaml", "my-.yaml", "-smoke.yaml", "other-smoke.yaml"])
def test_a_size_that_no_file_has_does_not_exist(tmp_path: Path, name: str) -> None:
    (tmp_path / "my.yaml").write_text(OWN)
    (tmp_path / "other.yaml").write_text(OWN.replace("{smoke: {decide: {blocks: [3, 4]}}}", "[1]"))
    with pytest.raises(UsageError, match="it does not exist"):
        library.load_study(str(tmp_path / name))


def test_a_mistake_in_a_size_names_the_size(tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text(OWN.replace("[3, 4]", "never"))
    with pytest.raises(StudyError, match=r"my\.yaml in the size smoke.*\n +decide\.blocks: "):
        library.load_study(str(tmp_path / "my-smoke.yaml"))


@pytest.mark.parametrize("size", ["3", "null", "[1]"])
def test_a_size_that_is_no_mapping_is_a_problem_of_the_file(tmp_path: Path, size: str) -> None:
    (tmp_path / "my.yaml").write_text(OWN.replace("{decide: {blocks: [3, 4]}}", size))
    with pytest.raises(StudyError, match=r"sizes\.smoke: "):
        library.load_study(str(tmp_path / "my-smoke.yaml"))


@pytest.mark.parametrize("name", reference.names())
@pytest.mark.all_plugins
def test_every_item_of_a_publication_names_studies_or_says_why_not(name: str) -> None:
    items = reference.get(name).items
    assert items
    for item in items:
        assert item.studies or item.why_not
        assert set(item.studies) <= set(library.names())


@pytest.mark.all_plugins
def test_the_table_of_studies_names_the_report_of_each() -> None:
    rows = re.findall(r"^\| `([^`]+)`.*? \| (R\d)? ?\| ", (DOCS / "studies.md").read_text(), re.M)
    assert {name for name, _ in rows} <= set(library.names())
    for name, report in rows:
        assert load_ready_made(name).reference in (None, report), name


@pytest.mark.all_plugins
def test_the_pages_run_studies_that_exist() -> None:
    run = re.compile(r"^    iostudy (?:run|simulate) ([\w-]+)(?= |$)", re.MULTILINE)
    named = {name: page for page in DOCS.rglob("*.md") for name in run.findall(page.read_text())}
    assert named
    exist = {*library.names(), *sized_names()}
    assert {name: page for name, page in named.items() if name not in exist} == {}


@pytest.mark.all_plugins
def test_the_page_of_r3_has_the_configurations_of_its_study() -> None:
    study = load_ready_made("raid10-or-not")
    page = (DOCS / "field-reports/shared-home.md").read_text()
    table = re.findall(r"^\| ([^|]+) \| [^|]*\? ?\|$|^\| (R3 \([^|]+\)) \|", page, re.M)
    assert [first or second for first, second in table] == [
        each.label for each in study.configurations()
    ]


@pytest.mark.all_plugins
def test_a_folder_or_file_of_its_name_hides_no_ready_made_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "merging-smoke").mkdir()
    (tmp_path / "read-ahead").write_text("question: Whose?")
    monkeypatch.chdir(tmp_path)
    assert library.load_ready_made("merging-smoke").name == "merging-smoke"
    assert library.load_ready_made("read-ahead").question != "Whose?"
