"""Examples of the page on study files can be run; the tutorial shows what check prints."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from iostudy.cli.check import check
from iostudy.study.source import read as read_yaml
from iostudy.study.study_file import study_file_type
from tests.study.files import GOOD, read

PAGE = "\n".join(
    page.read_text()
    for page in (Path("docs/study-file.md"), *sorted(Path("docs/study-file").iterdir()))
)
TUTORIAL = Path("docs/tutorial.md").read_text()


def examples(page: str) -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


EXAMPLES = examples(PAGE)


def complete(example: str) -> str:
    """The example with the sections of a whole study that it lacks."""
    given = read_yaml(example, "example").values
    rest = re.split(r"^(?=\w)", GOOD, flags=re.MULTILINE)
    replaced = {*given, *(("factors",) if "search" in given else ())}
    return "".join(part for part in rest if part.partition(":")[0] not in replaced) + example


@pytest.mark.all_plugins
def test_an_example_makes_a_study_of_a_whole_one():
    for example in EXAMPLES:
        whole = complete(example)
        if "fleet.nodes" in example:
            whole = re.sub(r"(- io: \{[^}]*)\}", r"\1, figure: exec_time}", whole)
        study = read(whole)
        assert study.awaiting_offer() or study.configurations(), example


@pytest.mark.parametrize("example", [EXAMPLES[0], examples(TUTORIAL)[0]])
def test_a_whole_example_is_a_study_as_it_stands(example):
    study = read(example)
    assert study.question
    assert study.configurations()
    assert study.without_root().configurations()


@pytest.mark.child
def test_the_tutorial_shows_the_output_of_check(monkeypatch, tmp_path, capsys):
    (shown,) = re.findall(
        r"^    \$ iostudy check (\S+)\n((?:    .*\n)+?)\n", TUTORIAL, re.MULTILINE
    )
    name, output = shown
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    Path(name).write_text(examples(TUTORIAL)[0])
    check(name)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == textwrap.dedent(output).splitlines()


def test_every_key_has_its_line_in_the_table():
    assert all(f"| `{key}` |" in PAGE for key in study_file_type().model_fields)


def test_the_four_configurations_are_called_as_the_page_says():
    (example,) = [e for e in EXAMPLES if "read_expire" in e]
    factors = GOOD.replace("factors:\n  block.scheduler: [none, bfq]\n", example)
    labels = [c.label for c in read(factors).configurations()]
    assert len(labels) == 4
    assert all(f"`{label}`" in " ".join(PAGE.split()) for label in labels)
