"""Confirmation of windows by whole trials on a simulated node."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.analysis.switchback.confirmation import ConfirmationOutcome
from iostudy.cli.progress import PlainProgress
from iostudy.cli.report_output import read_report
from iostudy.errors import TrialError
from iostudy.execution.listeners import Listener
from iostudy.execution.session import prepare_session
from iostudy.execution.switchback.runner import CONFIRMATION_BLOCKS
from iostudy.report.render import json_, markdown
from iostudy.study.parser import parse
from iostudy.workloads import catalog
from iostudy.workloads.native.io import Io
from tests.execution.test_switchback import TEXT, conduct, recorded
from tests.fake_node import FakeNode


@pytest.fixture(autouse=True)
def _steady(monkeypatch):
    definition = replace(catalog.get("io"), window_figures=lambda _: ("iops", "bandwidth"))
    monkeypatch.setattr(catalog, "get", lambda name: definition)
    monkeypatch.setattr(Io, "unsteady_reason", lambda self: "")


class Recorder(Listener):
    def __init__(self):
        self.events = []

    def study_began(self, study, seed, recorded, current):
        self.events.append(("study", recorded > 0))

    def study_ended(self, final):
        self.events.append(("ended",))

    def confirmation_began(self, labels, blocks, recorded):
        self.events.append(("confirmation", dict(labels), blocks, recorded))

    def trial_began(self, row, trials):
        self.events.append(("trial", trials))


def contradict(monkeypatch, node, effects):
    """Give whole trials other effects than windows."""
    result = FakeNode._result

    def changed(self, request, configuration, number, disturbance):
        node.effects = effects
        return result(self, request, configuration, number, disturbance)

    monkeypatch.setattr(FakeNode, "_result", changed)


def plain(report):
    return " ".join(markdown.render(report).split())


def confirmed(folder):
    (own,) = read_report(folder).switchback
    return {each.configuration: each for each in own.confirmations}


def test_a_recommendation_is_confirmed(tmp_path):
    node = FakeNode(effects={"mq-deadline": 0.2}, noise=0.02, base=20_000)
    conduct(tmp_path, node)
    *_, rows = recorded(tmp_path)
    assert {row.configuration for row in rows} == {"none", "mq-deadline"}
    assert len(rows) == 2 * CONFIRMATION_BLOCKS
    assert confirmed(tmp_path).keys() == {"mq-deadline"}
    assert confirmed(tmp_path)["mq-deadline"].outcome is ConfirmationOutcome.AGREE


def test_windows_without_a_recommendation_need_none(tmp_path):
    listener = Recorder()
    node = FakeNode(effects={"noop": -0.2}, noise=0.02, base=20_000)
    conduct(tmp_path, node, listeners=[listener])
    assert not recorded(tmp_path)[-1]
    assert not any(event[0] == "confirmation" for event in listener.events)


def test_a_disagreement_is_the_headline(tmp_path, monkeypatch):
    node = FakeNode(effects={"noop": 0.2}, noise=0.02, base=20_000)
    contradict(monkeypatch, node, {"noop": -0.2})
    conduct(tmp_path, node)
    report = read_report(tmp_path)
    start = "Whole trials contradict the windows of scheduler=noop on io: -"
    assert report.headline.startswith(start)
    assert report.answer[0].startswith("scheduler=noop is better")
    assert start in plain(report)
    assert '"outcome": "disagree"' in json_.render(report)


def test_an_undecided_confirmation_says_what_decides(tmp_path, monkeypatch):
    node = FakeNode(effects={"noop": 0.2}, noise=0.02, base=20_000)
    result = FakeNode._result

    def noisier(self, request, configuration, number, disturbance):
        node.noise = 0.06
        return result(self, request, configuration, number, disturbance)

    monkeypatch.setattr(FakeNode, "_result", noisier)
    conduct(tmp_path, node)
    own = confirmed(tmp_path)["noop"]
    assert own.outcome is ConfirmationOutcome.UNDECIDED
    assert own.blocks_needed > CONFIRMATION_BLOCKS
    text = plain(read_report(tmp_path))
    assert f"about {own.blocks_needed} blocks would decide" in text


def test_listeners_see_the_confirmation_and_one_study(tmp_path):
    listener = Recorder()
    node = FakeNode(effects={"noop": 0.2}, noise=0.02, base=20_000)
    conduct(tmp_path, node, listeners=[listener])
    assert listener.events[:3] == [
        ("study", False),
        ("ended",),
        ("confirmation", {"io": ("noop",)}, CONFIRMATION_BLOCKS, 0),
    ]
    assert listener.events[3:] == [("trial", 2)] * 2 * CONFIRMATION_BLOCKS


def test_an_interrupted_confirmation_is_resumed(tmp_path, capsys):
    """The rest of the trials run; what is recorded is called windows, then trials."""
    node = FakeNode(effects={"noop": 0.2}, noise=0.02, base=20_000)

    class InterruptingListener(Listener):
        trials = 0

        def trial_ended(self, row):
            self.trials += 1
            if self.trials == 3:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conduct(tmp_path, node, listeners=[InterruptingListener()])
    study = parse(TEXT, where="study.yaml", name="study")
    assert prepare_session(study, tmp_path, root=True, resume=True).final_comparisons() is None
    assert read_report(tmp_path).switchback[0].unconfirmed == ("noop",)
    capsys.readouterr()
    conduct(tmp_path, replace(node), resume=True, listeners=[PlainProgress()])
    printed = " ".join(capsys.readouterr().err.split())
    number = read_report(tmp_path).switchback[0].windows
    assert f"; {number} windows are recorded already" in printed
    assert "confirming noop on io by 10 whole trials; 3 trials are recorded already" in printed
    assert f"confirmation, block {CONFIRMATION_BLOCKS}/{CONFIRMATION_BLOCKS} io: " in printed
    assert confirmed(tmp_path)["noop"].blocks == CONFIRMATION_BLOCKS


def test_a_failing_confirmation_leaves_a_report(tmp_path, monkeypatch):
    def broken(self, request, configuration, number, disturbance):
        raise TrialError("a trial", found="a scripted failure", where="fake", remedy="none")

    monkeypatch.setattr(FakeNode, "_result", broken)
    with pytest.raises(TrialError):
        conduct(tmp_path, FakeNode(effects={"noop": 0.2}, noise=0.02, base=20_000))
    report = read_report(tmp_path)
    assert report.switchback[0].unconfirmed == ("noop",)
    assert "on io: too few whole trials ran" in plain(report)
