"""Goals: which configurations are recommended, and when a guard ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.results.comparisons import better_rule, compare_configurations, guard_rule
from iostudy.results.recommendation import (
    is_met_guard,
    is_undecided,
    list_candidates,
    meets_goal,
    recommend,
)
from iostudy.study.parser import parse
from iostudy.study.sections import Goal
from tests.report.factory import factor, rows, study

TWO = study(factor("block.scheduler", "none", "bfq"))


def with_goal(**goal):
    return replace(TWO, decide=replace(TWO.decide, goal=Goal(**goal)))


def compared(own, effects, noise=0.01, blocks=20):
    return compare_configurations(own, rows(own, blocks=blocks, effects=effects, noise=noise))


def test_a_noisy_workload_without_evidence_of_harm_is_no_recommendation():
    """It was once: "worse in none" needs no evidence."""
    better = rows(TWO, blocks=20, effects={("file-writes", "bfq"): 0.2}, workloads=["file-writes"])
    noisy = rows(TWO, blocks=20, effects={("file-reads", "bfq"): -0.1}, noise=0.3)
    mixed = [*better, *(row for row in noisy if row.workload == "file-reads")]
    found = compare_configurations(TWO, mixed)
    assert not any(own.comparison.verdict.value == "worse" for own in found)
    assert recommend(TWO, found) is None


def test_better_and_not_worse_is_recommended():
    found = compared(TWO, {("file-writes", "bfq"): 0.2})
    assert recommend(TWO, found) == "bfq"


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        ({"better": ("file-writes",)}, True),
        ({"better": ("file-reads",)}, False),
        ({"better": ("file-writes",), "not_worse": ()}, True),
    ],
)
def test_a_declared_goal_decides(goal, met):
    own = with_goal(**goal)
    found = compared(own, {("file-writes", "bfq"): 0.2})
    assert meets_goal(own, found) == met
    assert (recommend(own, found) == "bfq") == met


def test_a_workload_outside_the_goal_does_not_matter():
    own = with_goal(better=("file-writes",), not_worse=())
    found = compared(own, {("file-writes", "bfq"): 0.2, ("file-reads", "bfq"): -0.3})
    assert recommend(own, found) == "bfq"
    assert (
        recommend(TWO, compared(TWO, {("file-writes", "bfq"): 0.2, ("file-reads", "bfq"): -0.3}))
        is None
    )


def test_a_guard_ends_once_it_is_shown_to_be_harmless():
    own = with_goal(better=("file-writes",))
    found = compared(own, {("file-reads", "bfq"): 0.02}, noise=0.02, blocks=10)
    guard = next(each for each in found if each.workload == "file-reads")
    assert guard.meets_guard
    assert is_met_guard(own, guard)
    assert not is_undecided(own, guard)
    same = next(each for each in compared(TWO, {}, noise=0.02, blocks=10) if each.meets_guard)
    assert not is_met_guard(TWO, same)


def test_guards_share_the_risk_among_configurations_only():
    four = study()
    assert guard_rule(four).comparisons == 3
    assert better_rule(four).comparisons == 6
    one = replace(four, decide=replace(four.decide, goal=Goal(("file-writes",))))
    assert better_rule(one).comparisons == 3


def test_the_best_is_that_by_the_weights_of_the_workloads_at_every_load():
    own = parse(
        """
question: Which?
target: .
factors: {block.scheduler: [none, bfq, kyber]}
load: {workload.jobs: [1, 2]}
workloads: [{io: {label: heavy}}, {io: {label: light}}]
decide: {margin: 3%, risk: 5%, blocks: [5, 20], weights: {heavy: 10}}
""",
        where="study.yaml",
        name="study",
    )
    gains = {"heavy": {"bfq": 0.3, "kyber": 0.1}, "light": {"bfq": 0.1, "kyber": 0.5}}
    effects = {
        (workload.label, name): gain
        for workload in own.workloads
        for name, gain in gains[workload.listed_as].items()
    }
    assert list_candidates(own, compared(own, effects)) == ["bfq", "kyber"]
