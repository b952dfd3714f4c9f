"""Tests of switchback designs and their section of the study file."""

from __future__ import annotations

import pytest

from iostudy.errors import StudyError
from iostudy.study.schema import parse
from iostudy.study.sections import DecisionMode
from iostudy.study.switchback import describe_mode, draw_block, uses_switchback

IO = "io: {operation: read, order: random, size: 64MiB, direct: true, duration: 1s}"
TEXT = """
question: Which?
target: /tmp
factors: {block.scheduler: [none, kyber, bfq]}
workloads: [WORKLOAD]
decide: {mode: MODE}
"""


def study(mode="auto", workload=IO, **changes):
    text = TEXT.replace("MODE", mode).replace("WORKLOAD", "{" + workload + "}")
    for old, new in changes.items():
        text = text.replace(old, new)
    return parse(text, where="study.yaml", name="study")


def test_whole_trials_are_the_default():
    own = parse(
        TEXT.replace("decide: {mode: MODE}", "").replace("WORKLOAD", "{" + IO + "}"),
        where="study.yaml",
        name="study",
    )
    assert own.decide.mode is DecisionMode.TRIALS
    assert not uses_switchback(own)


@pytest.mark.parametrize("mode", ["auto", "switchback"])
def test_a_scheduler_under_a_steady_workload_is_switched(mode):
    assert uses_switchback(study(mode))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"workload": "terasort: {rows: 1000}"}, "terasort: it is one pass"),
        ({"kyber, bfq": "kyber, bfq], block.read_ahead_kb: [0, 128"}, "block.read_ahead_kb: an"),
        ({"block.scheduler: [none, kyber, bfq]": "workload.size: [1MiB, 2MiB]"}, "keeps its size"),
        ({"decide:": "validity: {steal: 5%}\ndecide:"}, "a limit of steal applies"),
    ],
)
def test_an_obstacle_is_named(changes, reason):
    assert describe_mode(study(**changes)).startswith("whole trials: ")
    assert reason in describe_mode(study(**changes))
    with pytest.raises(StudyError, match="the study cannot switch"):
        study("switchback", **changes)


def test_the_order_depends_on_seed_and_block_alone():
    own = study()
    blocks = [
        draw_block(own, own.workloads[0], 7, index, ("none", "kyber", "bfq")).order
        for index in range(1, 200)
    ]
    assert len(set(blocks)) == 6
    again = draw_block(own, own.workloads[0], 7, 5, ("none", "bfq"))
    assert again.order == tuple(label for label in blocks[4] if label != "kyber")
