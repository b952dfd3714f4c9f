"""A tunable of a scheduler is a level of those configurations alone that have the scheduler."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.errors import StudyError
from iostudy.settings import catalog
from iostudy.settings.definition import SettingCondition
from iostudy.study.combinations import (
    Factor,
    FactorKind,
    Level,
    combinations,
    count_combinations,
)
from iostudy.study.cross_check import resolve_offered_levels
from tests.study.files import GOOD, problems, read

BOTH = """\
block.scheduler: [mq-deadline, bfq]
  block.mq-deadline.read_expire: [100, 500]
  block.bfq.slice_idle: [0, 8]"""
SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq")


def factors(text: str) -> str:
    return GOOD.replace("block.scheduler: [none, bfq]", text)


def test_two_schedulers_with_a_tunable_each_make_four_configurations():
    study = read(factors(BOTH))
    assert {c.label: dict(c.settings) for c in study.configurations()} == {
        "scheduler=mq-deadline, read_expire=100": {
            "block.scheduler": "mq-deadline",
            "block.mq-deadline.read_expire": "100",
        },
        "scheduler=mq-deadline, read_expire=500": {
            "block.scheduler": "mq-deadline",
            "block.mq-deadline.read_expire": "500",
        },
        "scheduler=bfq, slice_idle=0": {"block.scheduler": "bfq", "block.bfq.slice_idle": "0"},
        "scheduler=bfq, slice_idle=8": {"block.scheduler": "bfq", "block.bfq.slice_idle": "8"},
    }
    assert study.baseline.label == "scheduler=mq-deadline, read_expire=100"


def test_a_tunable_may_stand_before_its_scheduler():
    study = read(factors("block.bfq.slice_idle: [0, 8]\n  block.scheduler: [none, bfq]"))
    labels = [c.label for c in study.configurations()]
    assert labels == [
        "scheduler=none",
        "slice_idle=0, scheduler=bfq",
        "slice_idle=8, scheduler=bfq",
    ]


def test_configurations_come_in_the_order_of_factors_and_levels():
    tunable = "block.bfq.slice_idle: [0, 8]"
    study = read(
        factors(f"block.scheduler: [bfq, none]\n  {tunable}\n  workload.direct: [on, off]")
    )
    assert [c.label for c in study.configurations()] == [
        "scheduler=bfq, slice_idle=0, direct=on",
        "scheduler=bfq, slice_idle=0, direct=off",
        "scheduler=bfq, slice_idle=8, direct=on",
        "scheduler=bfq, slice_idle=8, direct=off",
        "scheduler=none, direct=on",
        "scheduler=none, direct=off",
    ]


def test_constant_levels_are_in_no_label():
    study = read(factors("block.scheduler: [bfq]\n  block.bfq.low_latency: [0, 1]"))
    assert [c.label for c in study.configurations()] == ["0", "1"]
    assert study.baseline.settings["block.scheduler"] == "bfq"
    alone = read(factors("block.scheduler: [bfq]\n  block.bfq.low_latency: [0]"))
    assert [c.label for c in alone.configurations()] == ["scheduler=bfq, low_latency=0"]


def test_a_tunable_of_a_fixed_scheduler_is_in_every_configuration():
    study = read(factors("block.bfq.slice_idle: [0, 8]"))
    assert [dict(c.settings) for c in study.configurations()] == [
        {"block.bfq.slice_idle": "0"},
        {"block.bfq.slice_idle": "8"},
    ]


@pytest.mark.parametrize("levels", ["[none, kyber]", "[as-found]", "{bfq: none}"])
def test_a_tunable_of_a_scheduler_that_is_no_level_is_refused_at_its_line(levels):
    text = factors(f"block.scheduler: {levels}\n  block.bfq.slice_idle: [0, 8]")
    (problem,) = problems(text)
    assert problem.line == 5
    assert "it is only there while block.scheduler is bfq; add that level" in problem.message
    assert problem.found.startswith("block.scheduler: ")


def test_with_offered_levels_the_condition_is_checked_once_they_are_known():
    study = read(factors("block.scheduler: offered\n  block.bfq.slice_idle: [0, 8]"))
    filled = resolve_offered_levels(study, {"block.scheduler": ("none", "bfq")})
    assert len(filled.configurations()) == 3
    with pytest.raises(StudyError, match=r"line 5: .* only there while block\.scheduler is bfq"):
        resolve_offered_levels(study, {"block.scheduler": ("none", "kyber")})


def test_levels_that_hang_on_offered_ones_are_not_multiplied_before_they_are_known():
    forty = list(range(1, 41))
    tunables = f"block.bfq.slice_idle: {forty}\n  block.mq-deadline.read_expire: {forty}"
    study = read(factors(f"block.scheduler: offered\n  {tunables}"))
    filled = resolve_offered_levels(study, {"block.scheduler": ("mq-deadline", "bfq")})
    assert len(filled.configurations()) == 80


def test_a_tunable_in_another_place_than_its_scheduler_is_refused():
    text = "block.scheduler: [bfq]\n  block.bfq.slice_idle: {levels: [0, 8], on: sdb}"
    (problem,) = problems(factors(text))
    assert (problem.line, problem.found) == (5, "sdb")
    assert "give both the same `on`" in problem.message
    same = text.replace("[bfq]", "{levels: [bfq], on: sdb}")
    assert len(read(factors(same)).configurations()) == 2


def test_as_found_is_a_level_of_every_setting_except_of_file_systems():
    study = read(factors("block.scheduler: [as-found, bfq]\n  block.nr_requests: [as-found]"))
    assert [dict(c.settings) for c in study.configurations()] == [
        {"block.scheduler": "as-found", "block.nr_requests": "as-found"},
        {"block.scheduler": "bfq", "block.nr_requests": "as-found"},
    ]
    (problem,) = problems(factors("filesystem.type: [as-found, xfs]"))
    assert "level as-found: not one of its values" in problem.message


def test_nothing_that_others_depend_on_depends_on_a_third():
    """The order in which levels are chosen relies on it."""
    conditions = {name: catalog.get(name).condition for name in catalog.names()}
    needed = {condition.name for condition in conditions.values() if condition is not None}
    assert needed
    assert {name for name in needed if conditions[name] is not None} == set()


def factor(name: str, levels: list[str], condition: SettingCondition | None = None) -> Factor:
    found = tuple(Level(level, level) for level in levels)
    return Factor(name, FactorKind.SETTING, found, condition=condition)


@st.composite
def some_factors(draw: st.DrawFn) -> list[Factor]:
    """A scheduler with tunables of all of its levels, and what depends on nothing; in any order."""
    schedulers = draw(st.lists(st.sampled_from(SCHEDULERS), min_size=1, unique=True))
    found = [factor("block.scheduler", schedulers)]
    for number in range(draw(st.integers(0, 5))):
        owner = draw(st.sampled_from([*schedulers, ""]))
        condition = SettingCondition("block.scheduler", (owner,)) if owner else None
        levels = [str(n) for n in range(draw(st.integers(1, 3)))]
        found.append(factor(f"block.{owner}.tunable{number}", levels, condition))
    return draw(st.permutations(found))


@given(some_factors())
def test_every_combination_has_what_its_scheduler_has_and_nothing_else(varied):
    found = combinations(varied)
    for levels in found:
        scheduler = levels["block.scheduler"].value
        wanted = {f.name for f in varied if not f.condition or f.condition.holds(scheduler)}
        assert levels.keys() == wanted
    assert len({tuple(sorted((n, v.label) for n, v in c.items())) for c in found}) == len(found)


@given(some_factors())
def test_the_combinations_are_counted_without_being_made(varied):
    (schedulers,) = [f.levels for f in varied if f.name == "block.scheduler"]
    others = [f for f in varied if f.name != "block.scheduler"]
    expected = sum(
        math.prod(
            len(f.levels)
            for f in others
            if f.condition is None or scheduler.value in f.condition.values
        )
        for scheduler in schedulers
    )
    assert len(combinations(varied)) == count_combinations(varied) == expected


@given(some_factors())
def test_the_first_combination_has_the_first_levels(varied):
    first = combinations(varied)[0]
    assert all(first[f.name] == f.levels[0] for f in varied if f.name in first)
