"""Workloads without a counted attempt: pauses, other workloads, resumption."""

from __future__ import annotations

import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.errors import NotReadyError, TrialError
from iostudy.execution.listeners import Listener
from iostudy.ledger.rows import TrialStatus
from iostudy.ledger.studies import read_given_up_workloads
from tests.execution.test_runner import LIMITED, TEXT, conduct, failed, rows
from tests.fake_node import Disturbance, FakeNode

PATIENT = TEXT + "validity: {steal: 5%, attempts: 7}\n"


class DisturbedNode(FakeNode):
    """Its machine is disturbed, or breaks, while one of the workloads runs."""

    def __init__(self, disturbance, workload="file-reads", **options):
        super().__init__(noise=0.005, **options)
        self.disturbance, self.workload = disturbance, workload

    def run(self, request, configuration):
        if request.label == self.workload:
            self.script = {self._trials: self.disturbance}
        return super().run(request, configuration)


class RecordingListener(Listener):
    def __init__(self):
        self.pauses, self.given_up = [], []

    def pause_began(self, seconds):
        self.pauses.append(seconds)

    def workload_given_up(self, given_up):
        self.given_up.append(given_up)


def verdicts(standings):
    return {(s.workload, s.configuration): s.comparison.verdict for s in standings}


def test_pauses_for_quiet_grow_up_to_a_minute(tmp_path, pauses):
    listener = RecordingListener()
    conduct(tmp_path, DisturbedNode(Disturbance(steal=0.3)), text=PATIENT, listeners=[listener])
    assert pauses == listener.pauses == [5, 10, 20, 40, 60, 60]


def test_a_limit_that_cannot_be_met_ends_one_workload_and_no_study(tmp_path, pauses):
    listener = RecordingListener()
    final = conduct(
        tmp_path, DisturbedNode(Disturbance(steal=0.3)), text=LIMITED, listeners=[listener]
    )
    found = verdicts(final)
    assert found["file-writes", "bfq"] is Verdict.EQUIVALENT
    assert found["file-reads", "bfq"] is Verdict.INCONCLUSIVE
    (own,) = read_given_up_workloads(tmp_path)
    assert listener.given_up == [own]
    assert (own.workload, own.block, own.attempts, own.disturbed) == ("file-reads", 1, 3, True)
    assert "hypervisor took 30 %" in own.reason


def test_a_study_with_limits_that_are_never_met_ends_without_an_error(tmp_path, pauses):
    script = {n: Disturbance(steal=0.3) for n in range(50)}
    assert set(verdicts(conduct(tmp_path, FakeNode(script=script), text=LIMITED)).values()) == {
        Verdict.INCONCLUSIVE
    }
    assert len(read_given_up_workloads(tmp_path)) == 2


def test_a_workload_that_fails_is_an_error_after_the_others_are_decided(tmp_path, pauses):
    with pytest.raises(TrialError, match=r"file-reads: none of 3 attempts counts") as caught:
        conduct(tmp_path, DisturbedNode(Disturbance(error=failed())))
    assert caught.value.exit_code == 3
    assert pauses == []
    (own,) = read_given_up_workloads(tmp_path)
    assert not own.disturbed
    kept = rows(tmp_path)
    assert {r.block for r in kept if r.counts} == {1, 2, 3, 4, 5, 6}
    assert {r.workload for r in kept if r.counts} == {"file-writes"}
    read = [r for r in kept if r.workload == "file-reads"]
    assert [(r.attempt, r.status) for r in read] == [
        (attempt, TrialStatus.FAILED) for attempt in (1, 2, 3) for _ in range(3)
    ]


def test_a_workload_that_cannot_be_prepared_is_given_up_with_the_reason(tmp_path):
    class FullDiskNode(FakeNode):
        def block(self, request, seed, round_seed):
            if request.label == "file-reads":
                raise failed()
            return super().block(request, seed, round_seed)

    with pytest.raises(TrialError, match="no space left"):
        conduct(tmp_path, FullDiskNode(noise=0.005))
    (own,) = read_given_up_workloads(tmp_path)
    assert (own.workload, own.reason) == ("file-reads", "to write, but no space left")
    assert {r.block for r in rows(tmp_path) if r.counts} == {1, 2, 3, 4, 5, 6}


def test_a_resumed_study_tries_the_workload_again_and_decides_the_same(tmp_path, pauses):
    whole = verdicts(conduct(tmp_path / "whole", FakeNode(noise=0.005), text=LIMITED))
    busy = tmp_path / "busy"
    conduct(busy, DisturbedNode(Disturbance(steal=0.3)), text=LIMITED)
    assert read_given_up_workloads(busy)
    resumed = conduct(busy, FakeNode(noise=0.005), text=LIMITED, resume=True, seed=None)
    assert verdicts(resumed) == whole
    assert read_given_up_workloads(busy) == ()
    again = [row.attempt for row in rows(busy) if row.workload == "file-reads" and row.counts]
    assert again[:3] == [4, 4, 4]


def test_studies_under_steal_count_every_trial(tmp_path):
    """Without limits steal excludes nothing, however much of it there is."""
    for number in range(2):
        script = {n: Disturbance(steal=0.15 + 0.25 * (n * 7 % 10) / 10) for n in range(500)}
        folder = tmp_path / str(number)
        conduct(folder, FakeNode(script=script, seed=number), seed=number)
        assert all(row.counts for row in rows(folder))
        assert read_given_up_workloads(folder) == ()


class UnreadyNode(FakeNode):
    """It is not ready for one workload until so many trials have run."""

    ready_after = 0

    def block(self, request, seed, round_seed):
        if request.label == "file-reads" and self._trials < self.ready_after:
            raise NotReadyError("4 nodes", found="3 are left", where="here", remedy="wait")
        return super().block(request, seed, round_seed)


def test_a_workload_waits_until_the_node_is_ready_for_it(tmp_path):
    node = UnreadyNode(noise=0.005)
    node.ready_after = 6
    found = verdicts(conduct(tmp_path, node))
    assert set(found.values()) == {Verdict.EQUIVALENT}
    assert read_given_up_workloads(tmp_path) == ()
    counted = [row for row in rows(tmp_path) if row.counts]
    assert [row.workload for row in counted[:6]] == ["file-writes"] * 6
    assert {row.block for row in counted if row.workload == "file-reads"} == {1, 2, 3, 4, 5, 6}
    assert {row.attempt for row in counted} == {1}


def test_a_workload_that_the_node_is_never_ready_for_ends_without_a_verdict(tmp_path):
    node, listener = UnreadyNode(noise=0.005), RecordingListener()
    node.ready_after = 10_000
    with pytest.raises(TrialError, match="file-reads: it could not begin: 4 nodes, but 3 are left"):
        conduct(tmp_path, node, listeners=[listener])
    (own,) = read_given_up_workloads(tmp_path)
    assert listener.given_up == [own]
    assert (own.workload, own.block, own.attempts, own.disturbed) == ("file-reads", 1, 0, False)
    assert {r.block for r in rows(tmp_path) if r.counts} == {1, 2, 3, 4, 5, 6}
    assert {r.workload for r in rows(tmp_path)} == {"file-writes"}
