"""A time limit: no block begins after it, the study ends in order, and a resumption continues."""

from __future__ import annotations

from iostudy.analysis.verdict import Verdict
from iostudy.cli.report_output import read_report
from iostudy.execution.listeners import Listener
from iostudy.execution.schedule import TimeLimit
from tests.execution.test_giving_up import DisturbedNode
from tests.execution.test_runner import LIMITED, conduct, rows
from tests.fake_node import Disturbance, FakeNode


class EventTimeLimit(Listener):
    """A limit that is reached after so many trials, or so many events of the study."""

    seconds = seconds_left = 7200.0

    def __init__(self, trials):
        self.trials, self.reached = trials, []

    def trial_ended(self, row):
        self.trials -= 1

    def time_limit_reached(self, seconds):
        self.reached.append(seconds)

    @property
    def is_reached(self):
        return self.trials <= 0


def test_no_block_begins_after_the_limit_and_no_trial_is_cut(tmp_path):
    limit = EventTimeLimit(trials=7)
    final = conduct(tmp_path, FakeNode(noise=0.005), listeners=[limit], limit=limit)
    done = rows(tmp_path)
    assert len(done) == 9, "the third block of three trials is completed"
    assert all(row.counts for row in done)
    assert limit.reached == [7200]
    assert {own.comparison.verdict for own in final} == {Verdict.INCONCLUSIVE}
    report = read_report(tmp_path)
    assert "The time limit of 2 h 00 min ended the study" in report.answer[-1]
    assert report.state == "stopped"


def test_resumption_reaches_the_same_verdicts(tmp_path):
    whole = conduct(tmp_path / "whole", FakeNode(effects={"bfq": -0.2}))
    limit, node = EventTimeLimit(trials=10), FakeNode(effects={"bfq": -0.2})
    conduct(tmp_path / "cut", node, listeners=[limit], limit=limit)
    final = conduct(tmp_path / "cut", node, resume=True)
    assert [own.comparison.verdict for own in final] == [own.comparison.verdict for own in whole]
    assert "time limit" not in " ".join(read_report(tmp_path / "cut").answer)


def test_an_ended_study_does_not_name_the_limit(tmp_path):
    limit = TimeLimit.start(3600)
    conduct(tmp_path, FakeNode(effects={"bfq": -0.2}, noise=0.005), limit=limit)
    assert "time limit" not in " ".join(read_report(tmp_path).answer)


def test_limit_ends_the_attempts_at_a_block_without_giving_it_up(tmp_path, pauses):
    limit = EventTimeLimit(trials=1)
    node = DisturbedNode(Disturbance(steal=0.3), workload="file-writes")
    conduct(tmp_path, node, text=LIMITED, listeners=[limit], limit=limit)
    assert read_report(tmp_path).given_up == ()
    assert pauses == []
    assert limit.reached == [7200]
