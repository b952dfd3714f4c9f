"""A study file means what is written in it, line by line, and no more."""

from __future__ import annotations

import pytest

from iostudy.study.source import read, write
from tests.study.files import GOOD, problems


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000])
def test_deep_nesting_is_refused_and_not_followed(text):
    (problem,) = problems(text)
    assert "levels deep" in problem.found


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        (GOOD + "seed: &here 1\n", 9, "the anchor &here"),
        (GOOD + "baseline: *there\n", 9, "the alias *there"),
        (GOOD + "<<: {question: Which?}\n", 9, "the merge key <<"),
        (GOOD + "seed: !!int 1\n", 9, "the tag tag:yaml.org,2002:int"),
        (GOOD + "validity: !!set {foreign_io}\n", 9, "the tag tag:yaml.org,2002:set"),
    ],
)
def test_what_stands_for_more_than_is_written_is_refused_at_its_line(text, line, found):
    (problem,) = problems(text)
    assert (problem.line, problem.found) == (line, found)


def test_a_few_lines_cannot_stand_for_gigabytes():
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert problems("\n".join(lines))


def test_lines_are_those_of_the_file():
    text = "# a comment\n\n" + GOOD.replace("  - dfsio-read\n", "\n  # and\n\n  - dfsio-red\n")
    assert [p.line for p in problems(text)] == [12]


def test_what_is_written_reads_back_however_long_its_lines_are():
    labels = ", ".join(f"level {number} of many: '{number}'" for number in range(40))
    text = f"factors: {{workload.files: {{{labels}}}}}\nscheduler: none\n"
    values = read(text, "study.yaml").values
    assert read(write(values), "study.yaml").values == values
