"""Tests of the mode of a study, and of the orders of windows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.errors import StudyError
from iostudy.execution.switchback.blocks import draw_length, draw_order
from iostudy.study.mode import TRIALS, WINDOWS, describe_mode, find_mode
from iostudy.study.parser import parse
from iostudy.study.sections import DecisionMode

IO = "io: {operation: read, order: random, size: 64MiB, direct: true, duration: 1s}"
FACTOR = "block.scheduler: [none, mq-deadline, noop]"
TEXT = """
question: Which?
target: /tmp
factors: {block.scheduler: [none, mq-deadline, noop]}
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
    assert find_mode(own) is TRIALS


@pytest.mark.parametrize("mode", ["auto", "switchback"])
def test_a_scheduler_under_a_steady_workload_is_switched(mode):
    assert find_mode(study(mode)) is WINDOWS


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"workload": "iozone: {}"}, "iozone: it "),
        (
            {FACTOR: "block.read_ahead_kb: [0, 128]"},
            "block.read_ahead_kb: an",
        ),
        (
            {FACTOR: "workload.size: [1MiB, 2MiB]"},
            "keeps its size",
        ),
        ({"noop": "bfq"}, "block.scheduler: kyber adapts its depths for a second, bfq"),
        ({"noop": "as-found"}, "block.scheduler: kyber adapts"),
        ({"decide:": "validity: {steal: 5%}\ndecide:"}, "a limit of steal applies"),
    ],
)
def test_an_obstacle_is_named(changes, reason):
    assert describe_mode(study(**changes)).startswith("whole trials: ")
    assert reason in describe_mode(study(**changes))
    with pytest.raises(StudyError, match="the study cannot switch"):
        study("switchback", **changes)


def test_the_order_depends_on_seed_and_pair_alone():
    own = study()
    places = [(block, number) for block in range(1, 50) for number in range(1, 5)]
    orders = {
        place: draw_order(own, own.workloads[0], 7, place, ("none", "mq-deadline", "noop"))
        for place in places
    }
    assert len(set(orders.values())) == 6
    again = draw_order(own, own.workloads[0], 7, (5, 2), ("none", "noop"))
    assert again == tuple(label for label in orders[5, 2] if label != "mq-deadline")


@pytest.mark.parametrize(("given", "found"), [("90s", 90.0), ("10min", 600.0)])
def test_the_time_of_the_windows(given, found):
    own = study(**{"mode: auto": f"mode: auto, time: {given}"})
    assert own.decide.time == found


def test_a_time_that_no_windows_fit_is_refused():
    with pytest.raises(StudyError, match="10s to 168h"):
        study(**{"mode: auto": "mode: auto, time: 2s"})


def test_the_lengths_of_windows_are_drawn_by_pair():
    own = study()
    lengths = [draw_length(own.workloads[0], 7, (1, pair)) for pair in range(1, 200)]
    assert min(lengths) < 0.82 and max(lengths) > 1.18
    assert draw_length(own.workloads[0], 7, (1, 3)) == lengths[2]


def test_windows_of_earlier_versions_stay_windows():
    """Their ledgers have windows, and perhaps a setting that has an obstacle now."""
    own = study(noop="bfq")
    assert find_mode(own) is TRIALS
    assert find_mode(replace(own, has_windows=True)) is WINDOWS
    text = TEXT.replace("WORKLOAD", "{" + IO + "}").replace("noop", "bfq")
    recorded = parse(
        text.replace("MODE", "switchback"), where="ledger", name="study", has_windows=False
    )
    assert find_mode(recorded) is WINDOWS
