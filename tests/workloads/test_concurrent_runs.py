"""Players at the same time: begun again until the first has ended, and stopped whatever happens."""

from __future__ import annotations

import threading
import time

import pytest

from iostudy.errors import WorkloadError, WorkloadStoppedError
from iostudy.workloads.concurrent_runs import (
    CompletedRun,
    ConcurrentRun,
    overlap_share,
    run_concurrently,
)
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.tick import continue_run

STEP_SECONDS = 0.005


def error():
    return WorkloadError("to work", found="nothing", where="nowhere", remedy="none")


def working(steps, *, fails=None):
    """A round of so many short steps; endless where None."""

    def run(tick):
        done = 0
        while steps is None or done < steps:
            time.sleep(STEP_SECONDS)
            done += 1
            if not tick(done):
                raise WorkloadStoppedError("to work", where="nowhere")
        if fails:
            raise fails
        return Measurement({"steps": float(done)})

    return run


def player(steps, **kwargs):
    return ConcurrentRun(working(steps, **kwargs), lambda: None)


@pytest.fixture(autouse=True)
def nobody_is_left():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def test_the_others_begin_again_until_the_first_has_ended():
    first, other = player(40), player(3)
    assert run_concurrently(first, [other], continue_run, repeat_others=True)
    assert len(first.rounds) == 1
    assert len(other.rounds) > 1
    assert all(each.measured.figures == {"steps": 3.0} for each in other.rounds)


def test_cut_off_round_does_not_count_and_reports_its_work():
    first, other = player(10), player(None)
    assert run_concurrently(first, [other], continue_run, repeat_others=True)
    assert other.rounds == []
    assert other.cut_off is not None
    assert other.cut_off > 0
    assert len(other.spans) == 1


def test_once_waits_for_whoever_takes_longest():
    first, other = player(1), player(20)
    assert run_concurrently(first, [other], continue_run, repeat_others=False)
    assert [len(p.rounds) for p in (first, other)] == [1, 1]
    assert other.cut_off is None


def test_each_round_but_the_first_is_preceded_by_renewing():
    renewed = []
    other = ConcurrentRun(working(2), lambda: renewed.append(len(other.rounds)))
    run_concurrently(player(30), [other], continue_run, repeat_others=True)
    assert renewed == list(range(1, len(renewed) + 1))


@pytest.mark.parametrize("repeat", [True, False])
def test_a_tick_that_says_no_stops_all(repeat):
    first, other = player(None), player(None)
    assert not run_concurrently(first, [other], lambda done: done < 8, repeat_others=repeat)
    assert first.cut_off is not None
    assert other.cut_off is not None


@pytest.mark.parametrize("who", [0, 1])
def test_exception_of_one_stops_the_others_and_is_raised(who):
    failing = error()
    players = [player(None), player(None)]
    players[who] = player(2, fails=failing)
    with pytest.raises(WorkloadError) as caught:
        run_concurrently(players[0], players[1:], continue_run, repeat_others=True)
    assert caught.value is failing
    assert players[1 - who].cut_off is not None


def test_failure_during_a_stop_is_reported():
    def run(tick):
        while tick(0):
            time.sleep(STEP_SECONDS)
        raise error()

    with pytest.raises(WorkloadError):
        run_concurrently(
            player(3), [ConcurrentRun(run, lambda: None)], continue_run, repeat_others=True
        )


def test_an_exception_of_the_tick_stops_all_runs():
    def tick(_):
        raise KeyboardInterrupt

    first = player(None)
    with pytest.raises(KeyboardInterrupt):
        run_concurrently(first, [player(None)], tick, repeat_others=True)
    assert first.cut_off is not None


def test_the_common_share_counts_only_when_all_others_were_at_work():
    def of(*spans):
        return ConcurrentRun(
            working(1), lambda: None, [CompletedRun(Measurement({}), 0)], list(spans)
        )

    first = of((10.0, 20.0))
    assert overlap_share(first, [of((0.0, 30.0))]) == 1.0
    assert overlap_share(first, [of((9.0, 12.0), (13.0, 16.0))]) == pytest.approx(0.5)
    assert overlap_share(first, [of((9.0, 12.0), (13.0, 16.0)), of((11.0, 14.0))]) == pytest.approx(
        0.2
    )
    assert overlap_share(first, [of((0.0, 10.0))]) == 0.0
