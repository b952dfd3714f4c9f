"""Execution of searches from the ledger alone, with and without a winner."""

from __future__ import annotations

import math
import random
import shutil
from dataclasses import replace

import pytest

from iostudy.errors import SettingError, TargetError, TrialError
from iostudy.execution.runner import _data_seed
from iostudy.execution.session import prepare_session
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import open_ledger, read_study
from iostudy.study.parser import parse
from iostudy.study.plan import Block
from iostudy_search.record import SearchRecord
from iostudy_search.search import SearchOutcome
from iostudy_search.state import build_policy
from tests.execution.test_runner import conduct, failed, rows
from tests.fake_node import Disturbance, FakeNode

SEARCH = """
question: Which?
target: /tmp
search:
  parameters:
    block.read_ahead_kb: {from: 64, to: 65536, scale: log}
    block.scheduler: [mq-deadline, bfq]
    block.bfq.slice_idle: {from: 0, to: 20}
  budget: 60 trials
  try: {known: {block.scheduler: bfq, block.read_ahead_kb: 4096, block.bfq.slice_idle: 8}}
workloads: [{io: {label: file-writes, operation: write}}, {io: {label: file-reads}}]
"""
SHORT = SEARCH.replace("60 trials", "40 trials")


class ResponseSurfaceNode(FakeNode):
    """Figures fall off with the distance of the read-ahead from 1 MiB; bfq costs a tenth.

    Noise follows workload, configuration and block, so that a repeated block has the same figures.
    """

    def __init__(self, peak=0.5, noise=0.01, **given):
        super().__init__(noise=noise, **given)
        self.peak = peak
        self.blocks = {
            _data_seed(1, Block(index, workload, ()), attempt): index
            for index in range(1, 40)
            for workload in ("file-writes", "file-reads")
            for attempt in range(1, 8)
        }

    def block(self, request, seed, round_seed):
        self.index = self.blocks[seed]
        return super().block(request, seed, round_seed)

    def run(self, request, configuration):
        result = super().run(request, configuration)
        draw = random.Random(f"{request.label} {configuration.label} {self.index}")
        value = 1000 * math.exp(draw.gauss(0, self.noise)) * self.height(configuration.settings)
        return replace(result, figures={**result.figures, "bandwidth": value})

    def height(self, settings):
        if settings["block.read_ahead_kb"] == "as-found":
            return 1.0
        away = abs(math.log2(int(settings["block.read_ahead_kb"]) / 1024))
        return 1.0 + self.peak * (1 - away / 3) - 0.1 * (settings["block.scheduler"] == "bfq")


def searched(folder):
    with open_ledger(folder) as ledger:
        record = SearchRecord(ledger)
        return read_study(ledger), record.candidates(), record.outcome()


@pytest.fixture(scope="module")
def whole_search(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    assert conduct(folder, ResponseSurfaceNode(), text=SEARCH) == (), "a search gives no verdict"
    return folder


@pytest.fixture
def ended(whole_search, tmp_path):
    """The folder of a search that has ended."""
    return shutil.copytree(whole_search, tmp_path / "ended")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """What a short search that nothing stopped has found."""
    folder = tmp_path_factory.mktemp("plain")
    conduct(folder, ResponseSurfaceNode(), text=SHORT)
    return searched(folder)[1:]


def test_a_search_finds_the_neighbourhood_of_the_best(ended):
    study, _, outcome = searched(ended)
    winner = next(c for c in study.configurations() if c.label == outcome.winner)
    assert winner.settings["block.scheduler"] == "mq-deadline"
    assert 256 <= int(winner.settings["block.read_ahead_kb"]) <= 4096


def test_a_hill_that_slopes_down_everywhere_has_no_winner(tmp_path):
    class ValleyNode(ResponseSurfaceNode):
        def height(self, settings):
            return 1.0 if settings["block.read_ahead_kb"] == "as-found" else 0.8

    conduct(tmp_path, ValleyNode(), text=SEARCH)
    assert searched(tmp_path)[2] == SearchOutcome(None)


def test_every_block_has_the_default_and_the_budget_is_kept(ended):
    found = rows(ended)
    assert 50 <= len(found) <= 60
    for block in {(row.workload, row.block) for row in found}:
        own = [r.configuration for r in found if (r.workload, r.block) == block]
        assert own.count("default") == 1
        assert 2 <= len(own) <= 5


def test_both_workloads_of_a_round_run_the_same_candidates_in_orders_of_their_own(ended):
    orders = {}
    for row in rows(ended):
        orders.setdefault((row.block, row.workload), []).append(row.configuration)
    rounds = {block for block, _ in orders}
    pairs = [(orders[n, "file-writes"], orders[n, "file-reads"]) for n in rounds]
    assert all(set(one) == set(other) for one, other in pairs)
    assert any(one != other for one, other in pairs)


def test_a_known_point_enters_first_and_nothing_enters_twice(ended):
    _, candidates, _ = searched(ended)
    assert (candidates[0].label, candidates[0].round) == ("known", 1)
    points = [tuple(sorted(each.point.items())) for each in candidates]
    assert len(points) == len(set(points)) > 5


def test_candidates_are_recorded_before_their_first_trial(tmp_path):
    class AssertingNode(ResponseSurfaceNode):
        def run(self, request, configuration):
            labels = {each.label for each in searched(tmp_path)[1]}
            assert configuration.label in labels | {"default"}
            return super().run(request, configuration)

    conduct(tmp_path, AssertingNode(), text=SEARCH.replace("60 trials", "20 trials"))


@pytest.mark.parametrize("stop_after", [0, 4, 7, 22, 35])
def test_a_resumed_search_decides_the_same(tmp_path, plain, stop_after):
    stopped = ResponseSurfaceNode(script={stop_after: Disturbance(error=KeyboardInterrupt())})
    with pytest.raises(KeyboardInterrupt):
        conduct(tmp_path / "stopped", stopped, text=SHORT)
    conduct(tmp_path / "stopped", ResponseSurfaceNode(), text=SHORT, resume=True, seed=None)
    assert searched(tmp_path / "stopped")[1:] == plain


def test_a_search_that_ended_runs_nothing_more_and_is_known_to_have_ended(ended):
    before = rows(ended)
    assignment = prepare_session(study_of(ended), ended, root=True, resume=True)
    assert assignment.final_comparisons() == ()
    node = ResponseSurfaceNode()
    conduct(ended, node, text=SEARCH, resume=True, seed=None)
    assert node.log == ["preflight"]
    assert rows(ended) == before


def study_of(folder):
    with open_ledger(folder) as ledger:
        return replace(read_study(ledger), text=ledger.study().text)


def test_a_search_under_way_is_known_not_to_have_ended(tmp_path):
    stopped = ResponseSurfaceNode(script={9: Disturbance(error=KeyboardInterrupt())})
    with pytest.raises(KeyboardInterrupt):
        conduct(tmp_path, stopped, text=SEARCH)
    assert (
        prepare_session(study_of(tmp_path), tmp_path, root=True, resume=True).final_comparisons()
        is None
    )


def test_a_small_space_is_used_up_before_the_budget(tmp_path):
    text = SEARCH.replace("{from: 64, to: 65536, scale: log}", "[512, 1024]").replace(
        "    block.bfq.slice_idle: {from: 0, to: 20}\n", ""
    )
    text = "\n".join(line for line in text.splitlines() if "try:" not in line)
    conduct(tmp_path, ResponseSurfaceNode(), text=text.replace("60 trials", "600 trials"))
    _, candidates, outcome = searched(tmp_path)
    assert len(candidates) == 4
    assert outcome.winner == "read_ahead_kb=1024, scheduler=mq-deadline"
    assert len(rows(tmp_path)) <= 2 * 5 * 8


def test_time_is_counted_by_the_trials_that_count(tmp_path):
    """A trial of the fake takes a second; a round of it ten."""
    text = SEARCH.replace("60 trials", "30s")
    conduct(tmp_path, ResponseSurfaceNode(script={3: Disturbance(error=failed())}), text=text)
    counted = [row for row in rows(tmp_path) if row.counts]
    assert len(counted) == 30
    assert len(rows(tmp_path)) == 34


class RefusingNode(ResponseSurfaceNode):
    """Takes no bfq."""

    def preflight(self, requests, configurations):
        super().preflight(requests, configurations)
        return {
            each.label: failed(SettingError)
            for each in configurations
            if each.settings["block.scheduler"] == "bfq"
        }


def test_refused_candidates_are_omitted_and_the_search_continues(tmp_path):
    conduct(tmp_path, RefusingNode(), text=SEARCH)
    study, candidates, outcome = searched(tmp_path)
    refused = [each for each in candidates if each.refused]
    assert refused[0].label == "known"
    assert {each.point["block.scheduler"] for each in refused} == {"bfq"}
    assert all(each.refused == "to write: no space left" for each in refused)
    assert outcome.winner in {c.label for c in study.configurations()}
    assert "known is left out: to write: no space left" in study.notes
    assert "known" not in {row.configuration for row in rows(tmp_path)}


def test_candidates_that_do_not_fit_the_target_are_omitted(tmp_path):
    class FullTargetNode(ResponseSurfaceNode):
        def preflight(self, requests, configurations):
            if configurations[0].label == "known":
                raise failed(TargetError)
            return super().preflight(requests, configurations)

    conduct(tmp_path, FullTargetNode(), text=SEARCH.replace("60 trials", "20 trials"))
    assert searched(tmp_path)[1][0].refused == "to write: no space left"


def test_a_host_that_refuses_everything_ends_the_search(tmp_path):
    class RefusingAllNode(ResponseSurfaceNode):
        def preflight(self, requests, configurations):
            labels = [each.label for each in configurations if each.label != "default"]
            return dict.fromkeys(labels, failed(SettingError))

    conduct(tmp_path, RefusingAllNode(), text=SEARCH)
    assert searched(tmp_path)[2] == SearchOutcome(None)
    assert rows(tmp_path) == ()


class FailingNode(ResponseSurfaceNode):
    """One configuration fails in every trial."""

    def __init__(self, label):
        super().__init__()
        self.label = label

    def run(self, request, configuration):
        if configuration.label == self.label:
            raise failed(SettingError)
        return super().run(request, configuration)


def test_a_candidate_that_fails_in_every_attempt_is_dropped_with_the_reason(tmp_path):
    conduct(tmp_path, FailingNode("known"), text=SEARCH)
    _, candidates, outcome = searched(tmp_path)
    assert candidates[0].refused == "known: to write, but no space left"
    assert outcome.winner not in (None, "known")
    kept = [row for row in rows(tmp_path) if row.configuration == "known"]
    assert [row.attempt for row in kept] == [1, 2, 3]


def test_a_default_that_fails_ends_the_search_with_its_error(tmp_path):
    with pytest.raises(TrialError, match="none of 3 attempts counts"):
        conduct(tmp_path, FailingNode("default"), text=SEARCH)
    assert searched(tmp_path)[2] is None


def test_a_disturbed_candidate_is_not_dropped_and_the_search_can_be_resumed(tmp_path, pauses):
    script = {n: Disturbance(foreign_io=1.0) for n in range(200)}
    text = SEARCH + "validity: {foreign_io: 10%}\n"
    assert conduct(tmp_path, ResponseSurfaceNode(script=script), text=text) == ()
    _, candidates, outcome = searched(tmp_path)
    assert not any(each.refused for each in candidates)
    assert outcome is None
    conduct(tmp_path, ResponseSurfaceNode(), text=text, resume=True, seed=None)
    assert searched(tmp_path)[2].winner is not None


def test_no_workload_may_lose_more_than_is_allowed(tmp_path):
    class UnevenNode(ResponseSurfaceNode):
        def run(self, request, configuration):
            result = super().run(request, configuration)
            loses = request.label == "file-reads" and configuration.label != "default"
            value = result.figures["bandwidth"] * (0.7 if loses else 1.0)
            return replace(result, figures={**result.figures, "bandwidth": value})

    flat = UnevenNode(peak=0.25)
    flat.height = lambda settings: 1.0 if settings["block.read_ahead_kb"] == "as-found" else 2.0
    conduct(tmp_path / "free", flat, text=SEARCH)
    assert searched(tmp_path / "free")[2].winner is not None
    text = SEARCH.replace("  budget", "  worst: 5%\n  budget")
    strict = UnevenNode()
    strict.height = lambda settings: 1.0 if settings["block.read_ahead_kb"] == "as-found" else 1.3
    conduct(tmp_path / "strict", strict, text=text)
    assert searched(tmp_path / "strict")[2] == SearchOutcome(None)


def test_the_worst_is_a_log_ratio_as_the_margin_is(tmp_path):
    search = parse(SEARCH.replace("  budget", "  worst: 5%\n  budget"), where="f", name="f").design
    rules = build_policy(search, (1.0, 2.0))
    assert rules.worst == pytest.approx(-math.log(1.05))
    assert rules.weights == (1.0, 2.0)


def test_a_ledger_of_before_searches_is_named_as_such(tmp_path):
    conduct(tmp_path, ResponseSurfaceNode(), text=SEARCH.replace("60 trials", "20 trials"))
    ledger = Ledger.open(tmp_path)
    ledger.tables.connection.execute("DROP TABLE candidate")
    ledger.tables.connection.execute("PRAGMA user_version = 3")
    ledger.close()
    with pytest.raises(Exception, match="it is of version 3, of an older iostudy"):
        Ledger.open(tmp_path)
