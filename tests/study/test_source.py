"""A study file means what is written in it, line by line, and no more."""

from __future__ import annotations

import pytest

from iostudy.errors import StudyError
from iostudy.study import guarded_yaml
from iostudy.study.problems import MAX_PROBLEMS
from iostudy.study.source import MAX_BYTES, decode, read, write
from tests.study.files import GOOD, READS, problems


@pytest.mark.parametrize("text", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused_and_not_followed(text):
    (problem,) = problems(text * (guarded_yaml.MAX_DEPTH + 10))
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
def test_anchors_and_aliases_are_refused_at_their_line(text, line, found):
    (problem,) = problems(text)
    assert (problem.line, problem.found) == (line, found)


def test_a_few_lines_cannot_stand_for_gigabytes():
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert problems("\n".join(lines))


def test_lines_are_those_of_the_file():
    text = "# a comment\n\n" + GOOD.replace(f"  - {READS}\n", "\n  # and\n\n  - iozne\n")
    assert [p.line for p in problems(text)] == [12]


def test_long_lines_are_read_back():
    labels = ", ".join(f"level {number} of many: '{number}'" for number in range(40))
    text = f"factors: {{workload.files: {{{labels}}}}}\nscheduler: none\n"
    values = read(text, "study.yaml").values
    assert read(write(values), "study.yaml").values == values


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (GOOD + "seed: " + "9" * 100_000 + "\n", 9, "a number of 100000 characters"),
        (GOOD + "seed: 0x" + "f" * 100_000 + "\n", 9, "a number of 100002 characters"),
        (GOOD + "baseline: a\0b\n", 9, "U+0000"),
        (GOOD + "baseline: 2001-02-30\n", 9, "day"),
        (GOOD + "baseline: -_\n", 9, "index"),
        (GOOD + "bounds: {? [a, b] : c}\n", 9, "a key that is a list"),
        ("%YAML 1.1\n---\n" + GOOD, 2, "%YAML 1.1"),
        ("%YAML 1.3\n---\n" + GOOD, 1, "another version"),
    ],
)
def test_invalid_yaml_is_refused_at_its_line(text, line, words):
    (problem,) = problems(text)
    assert problem.line == line
    assert words in problem.found


def test_the_directive_of_the_version_that_is_read_changes_nothing():
    values = read("%YAML 1.2\n---\na: [on, 010]\n", "study.yaml").values
    assert values["a"] == ["on", 10]


@pytest.mark.parametrize("escape", [r"\ud800", r"\udfff", r"\0"])
@pytest.mark.parametrize("place", ['question: "%s"', 'baseline: "a%s"', '"%s": 1'])
def test_a_character_that_no_report_can_carry_is_refused_at_its_line(place, escape):
    lines = [GOOD.removeprefix("question: Does the scheduler matter?\n"), place % escape, "\n"]
    (found,) = problems("".join(lines))
    assert found.line == 8
    code = escape.removeprefix(r"\u").replace(r"\0", "0000").upper()
    assert found.found == f"the character U+{code}"
    str(found).encode()


@pytest.mark.parametrize("forged", [r"a\nline 1: x", r"a\rb", r"a\u2028b", r"a\e[31mb", r"\u202e"])
def test_no_value_forges_a_second_problem(forged):
    text = GOOD.replace(f"- {READS}", f'- "{forged}": {{}}') + f'"{forged}": 1\n'
    for problem in problems(text):
        assert str(problem).isprintable()


def test_a_list_of_too_many_values_is_refused_where_it_exceeds(monkeypatch):
    monkeypatch.setattr(guarded_yaml, "MAX_VALUES", 1000)
    found = problems(GOOD + "seed:\n" + "- 1\n" * 1100)
    assert [p.allowed for p in found] == ["at most 1000 keys and values"]
    assert 900 < found[0].line < 1010


def test_a_file_is_read_up_to_its_bound():
    with pytest.raises(StudyError) as caught:
        decode(b"#" * (MAX_BYTES + 1), "study.yaml")
    assert "at most 256KiB" in str(caught.value)


def test_invalid_utf_8_is_refused_at_its_line():
    with pytest.raises(StudyError) as caught:
        decode(GOOD.encode() + b"seed: \xff\n", "study.yaml")
    (problem,) = caught.value.problems
    assert (problem.line, problem.found) == (9, "the byte 0xFF")


def test_problems_end_where_nobody_reads_on():
    assert len(problems(GOOD + "".join(f"key{n}: 1\n" for n in range(1000)))) == MAX_PROBLEMS
