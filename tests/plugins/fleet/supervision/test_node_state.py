"""States of a node, and the lease."""

from iostudy.errors import NOT_RESTORED
from iostudy_fleet.supervision.lease import BEATS, Lease
from iostudy_fleet.supervision.node_state import NodeState, Phase
from iostudy_fleet.supervision.node_study import NodeStatus
from iostudy_fleet.supervision.work_folder import Ending, EndReason

START = NodeState(Phase.RUNNING, Lease(60.0, 100.0))
RUNNING = NodeStatus(running=True, ending=None, line="block 3")


def ended(code: int, reason: EndReason = EndReason.FINISHED) -> NodeStatus:
    return NodeStatus(running=False, ending=Ending(exit_code=code, reason=reason), line="last")


def test_a_lease_expires_after_its_time_without_a_heartbeat():
    lease = Lease(60.0, 100.0)
    assert not lease.has_expired(159.9)
    assert lease.has_expired(160.0)
    assert not lease.renew(150.0).has_expired(209.9)
    assert lease.left(200.0) == 0.0
    assert lease.beat_seconds * BEATS == lease.seconds


def test_a_silent_node_is_lost_when_its_lease_expires_and_not_before():
    assert START.with_silence("TimeoutError", 159.0) == START
    lost = START.with_silence("TimeoutError", 160.0)
    assert lost.phase is Phase.LOST
    assert "no answer for 60 s (TimeoutError)" in lost.detail
    assert not lost.phase.is_active


def test_an_answer_renews_the_lease_and_a_lost_node_comes_back():
    answered = START.with_answer(RUNNING, 150.0)
    assert (answered.phase, answered.detail) == (Phase.RUNNING, "block 3")
    assert answered.with_silence("", 209.0).phase is Phase.RUNNING
    lost = answered.with_silence("", 210.0)
    assert lost.with_answer(RUNNING, 300.0).phase is Phase.RUNNING
    stopped = lost.with_answer(ended(143, EndReason.LEASE), 300.0)
    assert stopped.may_rejoin
    assert lost.with_answer(ended(143, EndReason.STOPPED), 300.0).may_rejoin
    assert not lost.with_answer(ended(143, EndReason.TERMINATED), 300.0).may_rejoin
    assert not lost.with_answer(ended(NOT_RESTORED, EndReason.LEASE), 300.0).may_rejoin
    assert lost.with_answer(ended(1, EndReason.LEASE), 300.0).may_rejoin
    assert not lost.with_answer(ended(0, EndReason.LEASE), 300.0).may_rejoin, "it is complete"


def test_a_node_is_complete_only_with_a_finished_study_and_its_results():
    complete = START.with_answer(ended(0), 101.0)
    assert complete.with_results().phase is Phase.FETCHED
    damaged = complete.with_results("a row is missing")
    assert (damaged.phase, damaged.detail) == (Phase.FAILED, "a row is missing")
    # 1 is an uncaught error of Python, 127 no program, -9 and 137 a killed program or shell.
    for code in (1, 2, 3, 127, 137, 143, 255, -9):
        fetching = START.with_answer(ended(code), 101.0)
        assert fetching.phase is Phase.FETCHING
        assert fetching.with_silence("", 1e9) == fetching
        assert fetching.with_results().phase is Phase.FAILED
        assert f"ended with {code}: last" in fetching.with_results("no ledger").detail
    removed = fetching.with_folder_removed("")
    assert (removed.phase, removed.detail) == (Phase.COMPLETE, "")
    assert "remains there: busy" in fetching.with_folder_removed("busy").detail
    assert fetching.without_results("OSError").phase is Phase.LOST


def test_a_killed_supervisor_is_a_failure_that_is_named():
    status = NodeStatus(running=False, ending=None, line="block 2")
    failed = START.with_answer(status, 101.0).with_results()
    assert failed.phase is Phase.FAILED
    assert "supervisor was killed" in failed.detail


def test_a_stop_that_was_answered_late_or_restored_too_little_is_named():
    assert START.with_stop(ended(143, EndReason.STOPPED)) == START, "--resume continues it"
    late = START.with_stop(RUNNING)
    assert (late.phase, late.detail) == (Phase.LOST, "it did not stop in time")
    kept = START.with_stop(ended(NOT_RESTORED, EndReason.STOPPED))
    assert (kept.phase, kept.is_unrestored) == (Phase.FAILED, True)
    assert "ended with 4: last" in kept.detail
    silent = START.without_stop("late")
    assert silent.phase is Phase.LOST
    assert "no answer to the stop (late); it stops 60 s after" in silent.detail
