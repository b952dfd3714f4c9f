"""Tests of error messages for values, in the terms of the study file."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, Field, ValidationError

from iostudy.study.problems import format_reason
from tests.study.files import GOOD, READS, only_problem, problems


class Options(BaseModel):
    files: int = Field(1, ge=1, le=4)
    share: float = Field(0.5, gt=0, lt=1)
    direct: bool = False
    name: str = ""


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"files": 0}, "out of range; allowed: 1 or more"),
        ({"files": 5}, "out of range; allowed: 4 or less"),
        ({"files": "many"}, "write a whole number"),
        ({"files": 1.5}, "write a whole number"),
        ({"files": None}, "write a whole number"),
        ({"share": 0}, "out of range; allowed: more than 0.0"),
        ({"share": 1}, "out of range; allowed: less than 1.0"),
        ({"direct": "maybe"}, "write true or false"),
        ({"direct": None}, "write true or false"),
        ({"name": 1}, "write a text"),
    ],
)
def test_words(values, words):
    with pytest.raises(ValidationError) as caught:
        Options.model_validate(values)
    (detail,) = caught.value.errors()
    assert format_reason(detail) == words


@pytest.mark.parametrize(
    ("new", "path", "words"),
    [
        (
            "{loopback: {}}",
            "target.loopback.size",
            "it is missing (size of the disk, such as 2GiB)",
        ),
        ("{loopback: 3}", "target.loopback", "a mapping is wanted here"),
    ],
)
def test_sections(new, path, words):
    problem = only_problem("/data/scratch", new)
    assert (problem.path, problem.message) == (path, words)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (
            "target: /data/scratch\n",
            "",
            "line 1: target: it is missing (Where to work: a directory, ",
        ),
        ("[5, 30]", "5", "line 8: decide.blocks: write [fewest, most] as whole numbers"),
        (
            "  block.scheduler: [none, bfq]\n",
            "",
            "such as {block.scheduler: [none, bfq]}; found no",
        ),
        ("{margin: 3%, risk: 5%, blocks: [5, 30]}", "3", "allowed: margin, risk, blocks, weights"),
    ],
)
def test_a_key_is_explained_by_its_description_its_example_or_its_own_keys(old, new, text):
    assert text in str(only_problem(old, new))


def test_a_wrong_key_hides_no_problem_of_another_section():
    text = GOOD.replace("3%", "3").replace("/data/scratch", "{}").replace("bfq]", "bqf]")
    assert [p.path for p in problems(text)] == [
        "target",
        "factors.block.scheduler",
        "decide.margin",
    ]


def test_an_unknown_key_is_compared_with_those_of_its_own_section():
    problem = only_problem("/data/scratch", "{loopback: {size: 1GiB, filesystm: xfs}}")
    assert (problem.path, problem.message) == ("target.loopback.filesystm", "unknown key")
    assert (problem.allowed, problem.suggestion) == ("size, filesystem, beside", "filesystem")


def test_an_unknown_key_of_a_named_section_is_compared_with_those_of_that_section():
    figure = "{regex: (x), unit: s, higher_is_better: true, strem: stderr}"
    problem = only_problem(f"- {READS}", f"- command: {{run: ls, figures: {{rate: {figure}}}}}")
    assert problem.path == "workloads.1.command.figures.rate.strem"
    assert problem.suggestion == "stream"


def test_a_problem_is_one_line_whatever_the_name_it_is_of():
    problem = only_problem("question:", '"a\\nb": 3\nquestion:')
    assert "\n" not in str(problem)
    assert r"a\nb" in str(problem)
