"""Labels are one line of text that is the same everywhere, and no two are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.study.names import MAX_LENGTH, parse_label, short_names
from tests.study.files import GOOD, only_problem, problems, read

printable = st.characters(categories=("L", "N", "P", "S"))


@given(st.text(printable, min_size=1, max_size=MAX_LENGTH))
def test_printable_text_is_a_label_as_it_stands(text):
    assert parse_label(text) == text


@pytest.mark.parametrize("text", ["", " ", "two\nlines", "\x1b[31mred", "\u202eright", "x" * 61])
def test_control_characters_and_long_texts_are_no_labels(text):
    with pytest.raises(ValueError, match="one line of 1 to 60"):
        parse_label(text)


@pytest.mark.parametrize(
    "labels", ['{1: none, "1": bfq}', '{true: none, "true": bfq}', "{a: none, 'a ': bfq}"]
)
def test_two_keys_of_yaml_that_read_the_same_are_refused(labels):
    problem = only_problem("[none, bfq]", labels)
    assert problem.line == 4
    assert "occurs twice" in problem.message


@pytest.mark.parametrize("label", [r'"\e[31mred"', r'"a\nb"', "x" * 61, "~", "[a]"])
def test_a_level_without_a_proper_label_is_refused_at_its_line(label):
    problem = only_problem("[none, bfq]", f"{{? {label} : none, b: bfq}}")
    assert problem.line == 4


def test_a_workload_without_a_proper_label_is_refused_at_its_line():
    problem = only_problem("label: file-writes", 'label: "\\e[31m"')
    assert problem.line == 6
    assert "one line" in problem.message


def test_workloads_with_equal_labels_are_refused():
    text = GOOD.replace("label: file-writes", "label: 1") + '  - io: {label: "1"}\n'
    text = text.replace("decide: {margin: 3%, risk: 5%, blocks: [5, 30]}\n", "")
    assert "occurs twice" in str(problems(text)[0])


def test_configurations_of_two_factors_that_read_the_same_are_refused():
    text = GOOD.replace(
        "block.scheduler: [none, bfq]",
        "block.scheduler: {x: none, 'x, direct=y': bfq}\n"
        "  workload.direct: {'y, direct=z': true, z: false}",
    )
    (problem,) = problems(text)
    assert problem.line == 3
    assert "scheduler=x, direct=y, direct=z" in str(problem)


def test_a_baseline_is_named_as_its_level_is_written():
    text = GOOD.replace("block.scheduler: [none, bfq]", "workload.direct: [false, true]")
    assert read(text + "baseline: true\n").baseline.options == {"direct": "true"}
    text = text.replace("[false, true]", "[off, on]")
    assert read(text + "baseline: on\n").baseline.options == {"direct": "true"}


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["block.scheduler", "workload.direct"], ["scheduler", "direct"]),
        (
            ["block.mq-deadline.read_expire", "block.deadline.read_expire"],
            ["mq-deadline.read_expire", "deadline.read_expire"],
        ),
        (
            ["block.read_ahead_kb", "bdi.read_ahead_kb", "block.nr_requests"],
            ["block.read_ahead_kb", "bdi.read_ahead_kb", "nr_requests"],
        ),
        (["a.b", "b"], ["a.b", "b"]),
    ],
)
def test_a_name_is_as_short_as_the_others_allow(names, short):
    assert list(short_names(names).values()) == short


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=8))
def test_short_names_distinguish_factors(parts):
    names = list(dict.fromkeys(".".join(each) for each in parts))
    short = short_names(names)
    assert len(set(short.values())) == len(names)
    assert all(f".{name}".endswith(f".{short[name]}") for name in names)


def test_two_factors_with_the_same_last_name_are_distinguished():
    text = GOOD.replace(
        "block.scheduler: [none, bfq]",
        "block.scheduler: [mq-deadline, deadline]\n"
        "  block.mq-deadline.read_expire: [100, 500]\n"
        "  block.deadline.read_expire: [100, 500]",
    )
    assert [c.label for c in read(text).configurations()] == [
        "scheduler=mq-deadline, mq-deadline.read_expire=100",
        "scheduler=mq-deadline, mq-deadline.read_expire=500",
        "scheduler=deadline, deadline.read_expire=100",
        "scheduler=deadline, deadline.read_expire=500",
    ]
