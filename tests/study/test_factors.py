"""Levels of an option are read with the option's own type."""

from __future__ import annotations

import pytest

from tests.study.files import GOOD, only_problem, read

FACTOR = "block.scheduler: [none, bfq]"


@pytest.mark.parametrize(
    ("factor", "same"),
    [
        ("workload.record_size: [1MiB, 1024KiB]", "level 1MiB and 1024KiB occurs twice"),
        ("workload.record_size: [1048576, 4KiB, 1MiB]", "level 1048576 and 1MiB occurs twice"),
        ("workload.direct: [true, on]", "level true and on occurs twice"),
        ("workload.files: [2, '02']", "level 2 and 02 occurs twice"),
        ("block.nr_requests: [64, '064']", "level 64 and 064 occurs twice"),
    ],
)
def test_one_value_in_two_notations_stands_twice(factor, same):
    problem = only_problem(FACTOR, factor)
    assert problem.line == 4
    assert same in problem.message


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (
            "workload.record_size: [1MiB, fast]",
            "level fast: not a size; write a number and KiB, MiB",
        ),
        (
            "workload.record_size: {slow: 1MiB, fast: 0}",
            "level 0: out of range; allowed: more than 0",
        ),
        ("workload.direct: [true, maybe]", "level maybe: write true or false"),
        ("workload.jobs: [1, 5000]", "level 5000: out of range; allowed: 4096 or less"),
        ("workload.files: [1, [2]]", "a level with parts needs a label"),
        ("workload.files: offered", "no levels that a host offers"),
    ],
)
def test_a_level_that_the_option_does_not_take_is_an_error_at_the_factor(factor, words):
    problem = only_problem(FACTOR, factor)
    assert problem.line == 4
    assert words in problem.message


def test_a_level_is_called_as_it_is_written_and_has_one_form():
    study = read(GOOD.replace(FACTOR, "workload.record_size: [1024KiB, 65536]"))
    assert [c.label for c in study.configurations()] == ["1024KiB", "65536"]
    assert [c.options["record_size"] for c in study.configurations()] == ["1MiB", "64KiB"]


def test_one_value_in_two_notations_under_two_labels_is_an_a_a_study():
    study = read(GOOD.replace(FACTOR, "workload.record_size: {a: 1MiB, b: 1024KiB}"))
    assert [c.options["record_size"] for c in study.configurations()] == ["1MiB", "1MiB"]
