"""Every example of the page on study files is one that can be run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from iostudy.study.schema import KEYS
from iostudy.study.source import read as read_yaml
from tests.study.files import GOOD, read

PAGE = Path("docs/study-file.md").read_text()
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_makes_a_study_of_a_whole_one(example):
    given = read_yaml(example, "example").values
    rest = re.split(r"^(?=\w)", GOOD, flags=re.MULTILINE)
    others = [part for part in rest if part.partition(":")[0] not in given]
    study = read("".join(others) + example)
    assert study.awaiting_offer() or study.configurations()


def test_every_key_has_its_line_in_the_table():
    assert all(f"| `{key}` |" in PAGE for key in KEYS)


def test_the_four_configurations_are_called_as_the_page_says():
    (example,) = [e for e in EXAMPLES if "read_expire" in e]
    factors = GOOD.replace("factors:\n  block.scheduler: [none, bfq]\n", example)
    labels = [c.label for c in read(factors).configurations()]
    assert len(labels) == 4
    assert all(f"`{label}`" in " ".join(PAGE.split()) for label in labels)
