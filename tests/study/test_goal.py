"""`decide: {goal: ..., rare: ...}` of a study file."""

from __future__ import annotations

import pytest

from iostudy.errors import StudyError
from iostudy.study.parser import parse

TEXT = """
question: Which?
target: /tmp
factors: {block.scheduler: [none, kyber, bfq]}
workloads:
  - io: {label: file-writes, operation: write}
  - io: {label: file-reads}
  - iozone
decide: {margin: 3%, risk: 5%, blocks: [5, 12]GOAL}
"""


def read(goal: str = ""):
    return parse(TEXT.replace("GOAL", goal), where="study.yaml", name="study")


def test_by_default_any_workload_is_better_and_none_is_worse():
    goal = read().goal
    assert goal.better == goal.not_worse == ("file-writes", "file-reads", "iozone")
    assert read().decide.rare is None


def test_a_declared_goal_guards_all_other_workloads():
    goal = read(", goal: {better: [file-reads]}").goal
    assert (goal.better, goal.not_worse) == (("file-reads",), ("file-writes", "iozone"))


def test_declared_guards_are_the_only_ones():
    goal = read(", goal: {better: [iozone], not_worse: [file-reads]}, rare: 10%").goal
    assert (goal.better, goal.not_worse) == (("iozone",), ("file-reads",))
    assert read(", rare: 10%").decide.rare == 0.1


@pytest.mark.parametrize(
    ("goal", "path", "message"),
    [
        ("goal: {better: [io]}", "decide.goal.better", "unknown workload of this study"),
        (
            "goal: {better: [iozone], not_worse: [x]}",
            "decide.goal.not_worse",
            "unknown workload of this study",
        ),
        (
            "goal: {better: [iozone], not_worse: [iozone]}",
            "decide.goal.not_worse",
            "name the workload once",
        ),
        ("goal: {better: []}", "decide.goal.better", "at least 1"),
        ("goal: {not_worse: [iozone]}", "decide.goal", "missing"),
        ("rare: 0%", "decide.rare", "allowed: more than 0%"),
    ],
)
def test_goals_that_are_none(goal: str, path: str, message: str):
    with pytest.raises(StudyError) as caught:
        read(f", {goal}")
    (problem,) = caught.value.problems
    assert problem.path.startswith(path)
    assert message in problem.message
