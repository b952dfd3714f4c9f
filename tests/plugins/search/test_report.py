"""Tests of a search report: the confirmation's verdict first, and none of the search."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace

import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.cli.report_output import read_recorded
from iostudy.errors import UsageError
from iostudy.execution.session import StudySession
from iostudy.execution.session import prepare_confirmation as prepare
from iostudy.ledger.studies import find_confirmation
from iostudy.report.base import State
from iostudy.report.formatting import quote_label
from iostudy.report.render import html, json_, markdown, terminal
from iostudy.report.values import Report
from iostudy.results.recorded_study import RecordedStudy
from iostudy_search import state
from iostudy_search.optimizer.race import Entrant, Race, RaceStatus
from iostudy_search.report import build_search_report
from iostudy_search.result import find_verdict_folder, read_search
from iostudy_search.search import SearchOutcome
from tests.execution.test_runner import conduct
from tests.fake_node import Disturbance, FakeNode
from tests.plugins.search.test_schedule import SEARCH, RefusingNode, ResponseSurfaceNode

GO_ON = "iostudy run DIR --resume"
TEXT = SEARCH.replace("60 trials", "30 trials") + "decide: {blocks: [5, 12]}\n"


class ConfirmingNode(FakeNode):
    """The winner is as good as it looked."""

    def run(self, request, configuration):
        self.effects = {configuration.label: 0.0 if configuration.label == "default" else 0.2}
        return super().run(request, configuration)


class ValleyNode(ResponseSurfaceNode):
    """Nothing is better than the default."""

    def height(self, settings):
        return 1.0 if settings["block.read_ahead_kb"] == "as-found" else 0.8


class TradingNode(ResponseSurfaceNode):
    """Every candidate reads faster than the default, and writes slower."""

    def run(self, request, configuration):
        self.reads = request.label == "file-reads"
        return super().run(request, configuration)

    def height(self, settings):
        if settings["block.read_ahead_kb"] == "as-found":
            return 1.0
        return 1.5 if self.reads else 0.9


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    conduct(folder, ResponseSurfaceNode(), text=TEXT)
    return folder


def prepare_confirmation(folder):
    return prepare(StudySession(read_search(folder).study, folder, True, None))


def confirmed(folder) -> RecordedStudy:
    own = prepare_confirmation(folder)
    own.folder.mkdir(exist_ok=True)
    if own.recorded is None:
        own.execute(ConfirmingNode(noise=0.005), seed=None, listeners=[])
    again = prepare_confirmation(folder)
    assert again.final_comparisons() is not None
    return read_recorded(find_confirmation(folder))


def shown_text(report: Report) -> str:
    return " ".join(report.answer)


def test_a_search_alone_has_candidates_and_no_verdict(folder):
    found = read_search(folder)
    report = build_search_report(found, None)
    assert report.state is State.STOPPED
    assert len(report.configurations) == len(found.candidates) + 1
    assert len(report.trials) == len(found.rows)
    assert [len(workload.results) for workload in report.workloads] == [1, 1]
    assert report.ranking is None
    assert report.method.comparisons == 0
    assert "The search gives no verdict" in report.method.text
    assert "confirmation has not started" in shown_text(report)
    assert "has not been confirmed" in report.headline
    assert [step.command for step in report.next_steps] == [GO_ON]


def test_confirmed_search_begins_with_the_verdict(folder):
    report = build_search_report(read_search(folder), confirmed(folder))
    assert report.state is State.COMPLETE
    assert "is better than default" in report.headline
    assert "iostudy persist DIR" in report.next_steps[0].command
    assert report.name == "study"
    assert report.study_text == TEXT
    winner = report.workloads[0].results[1]
    assert winner.verdict is Verdict.BETTER
    assert "gains" in report.answer[0]
    assert "the verdict comes from fresh blocks" in report.answer[-1]
    assert "seed 1," in report.method.text
    assert str(report.method.seed) in report.method.text


def test_open_confirmation_is_resumed_with_the_search_file(folder):
    begun = confirmed(folder)
    first = replace(begun, rows=begun.rows[: len(begun.rows) // 4])
    report = build_search_report(read_search(folder), first)
    assert report.state is State.STOPPED
    assert [step.command for step in report.next_steps] == [GO_ON]


def test_every_format_has_the_search(folder):
    search = read_search(folder)
    reports = build_search_report(search, None), build_search_report(search, confirmed(folder))
    for render in (html.render, markdown.render, json_.render):
        alone, with_confirmation = map(render, reports)
        assert "candidate" in alone
        assert "fresh blocks" in with_confirmation


def test_terminal_summary_has_the_search(folder):
    assert terminal.render(build_search_report(read_search(folder), None))


def test_search_without_a_winner_advises_the_default(tmp_path):
    conduct(tmp_path, ValleyNode(), text=TEXT)
    assert prepare_confirmation(tmp_path) is None
    report = build_search_report(read_search(tmp_path), None)
    assert report.state is State.COMPLETE
    assert "was better than the default at the end of the search" in shown_text(report)
    assert report.headline.startswith("No candidate was better")
    assert [step.text for step in report.next_steps] == ["Keep the default."]


def test_a_candidate_that_is_ahead_and_loses_too_much_is_named(tmp_path):
    conduct(tmp_path, TradingNode(), text=TEXT.replace("  try:", "  worst: 5%\n  try:"))
    found = read_search(tmp_path)
    assert found.outcome == SearchOutcome(None)
    label, reason = found.unqualified
    assert reason == "it loses more than 5 % on a workload"
    report = build_search_report(found, None)
    assert "was better" not in f"{report.headline} {shown_text(report)}"
    assert f"{quote_label(label)} was ahead of the default, but {reason}" in shown_text(report)
    (step,) = report.next_steps
    assert shlex.split(step.command)[-2:] == ["--configuration", label]
    with pytest.raises(UsageError) as caught:
        find_verdict_folder(tmp_path)
    assert caught.value.found.endswith(f"{label} is ahead, but {reason}")


def test_a_candidate_that_is_ahead_after_too_few_rounds_is_named(tmp_path, monkeypatch):
    conduct(tmp_path, ValleyNode(), text=TEXT)
    lucky = Entrant(1, 0.1, math.nan, (0.1, 0.1), RaceStatus.RACING, eligible=True)
    monkeypatch.setattr(
        state, "run_race", lambda given, _: Race((lucky,) * len(given), None, (), 4)
    )
    found = read_search(tmp_path)
    label, reason = found.unqualified
    assert label == found.candidates[0].label
    assert reason == "it had fewer rounds than another candidate"
    assert reason in shown_text(build_search_report(found, None))


def test_unfinished_search_is_reported(tmp_path):
    stopped = ResponseSurfaceNode(script={12: Disturbance(error=KeyboardInterrupt())})
    with pytest.raises(KeyboardInterrupt):
        conduct(tmp_path, stopped, text=TEXT)
    report = build_search_report(read_search(tmp_path), None)
    assert report.state is State.STOPPED
    assert "has not ended" in shown_text(report)
    assert "has not ended" in report.headline
    assert [step.command for step in report.next_steps] == [GO_ON]


def test_refused_candidates_are_not_counted_as_tried(tmp_path):
    conduct(tmp_path, RefusingNode(), text=TEXT)
    found = read_search(tmp_path)
    taken = [each for each in found.candidates if not each.refused]
    assert 0 < len(taken) < len(found.candidates)
    report = build_search_report(replace(found, outcome=None), None)
    assert f"has tried {len(taken)} candidate" in shown_text(report)
