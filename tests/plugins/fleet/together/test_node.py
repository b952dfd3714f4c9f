"""Blocks of all nodes, after errors and interrupts, without agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from iostudy.errors import NotReadyError, TrialError, UsageError, WorkloadError
from iostudy.study.parser import parse
from iostudy_fleet.deployment.client import NoAnswer
from iostudy_fleet.supervision.work_folder import EndReason
from iostudy_fleet.together.node import TogetherNode
from iostudy_fleet.together.trial_messages import Answer, Call, Outcome, TrialRequest
from tests.plugins.fleet.small_study import build_study
from tests.plugins.fleet.together.test_crew import Node, beat, ended, failure, make

TARGET: dict[str, Any] = {"description": "d", "devices": [], "identity": [], "on": {}, "notes": []}
CIRCUMSTANCES = {"host": {}, "versions": {}, "target": TARGET}


class Restarts:
    """A restart that succeeds, of nodes that are always the same."""

    def __init__(self, *, may_begin: bool = True, same: bool = True) -> None:
        self.may_begin, self.same = may_begin, same
        self.begun: list[tuple[str, int]] = []

    def begin(self, node: str, calls: int) -> str:
        self.begun.append((node, calls))
        return "" if self.may_begin else "no space"

    def require_same(self, _began: Any, _now: Any) -> None:
        if not self.same:
            raise failure(UsageError, "another kernel")


def run_block(folder: Path, error: BaseException) -> list[str]:
    """Leave a block by this error; return the names of the node's calls."""
    request = parse(build_study(folder, 3, 3), where="test", name="test").workloads[0]
    node = Node()
    crew, _, _ = make(a=node)
    with (
        pytest.raises(type(error)),
        TogetherNode(crew, 0.03, Restarts()).block(request, seed=1, round_seed=1),
    ):
        raise error
    return [name_of(own.call) for own in node.requests]


def name_of(call: Call | None) -> str:
    assert call is not None
    return call.method


def test_an_error_ends_the_block_on_every_node(tmp_path: Path):
    assert run_block(tmp_path, failure(WorkloadError, "no space")) == ["begin_block", "end_block"]


def test_an_interrupt_sends_no_other_call(tmp_path: Path):
    assert run_block(tmp_path, KeyboardInterrupt()) == ["begin_block"]


def test_a_block_runs_on_as_many_nodes_as_its_load_names(tmp_path: Path):
    request = parse(build_study(tmp_path, 3, 3), where="test", name="test").workloads[0]
    nodes = {name: Node() for name in "abcd"}
    crew, _, _ = make(**nodes)
    together = TogetherNode(crew, 0.03, Restarts())
    for attempt in (1, 2):
        with together.block(replace(request, node_count=3), seed=attempt, round_seed=7):
            pass
    calls = sorted(tuple(name_of(own.call) for own in node.requests) for node in nodes.values())
    block = ("begin_block", "end_block")
    assert calls == [(), 2 * block, 2 * block, 2 * block], "an attempt changes no node"
    with pytest.raises(NotReadyError, match="4 are left"):
        together.block(replace(request, node_count=5), seed=1, round_seed=7).__enter__()


def test_a_node_that_is_lost_while_the_block_begins_is_in_no_trial(tmp_path: Path):
    request = parse(build_study(tmp_path, 3, 3), where="test", name="test").workloads[0]
    nodes = {"a": Node(), "b": Node(ends_after=0)}
    crew, _, _ = make(**nodes)
    block = TogetherNode(crew, 0.03, Restarts()).block(request, seed=1, round_seed=1)
    with pytest.raises(TrialError, match="no answer of b"):
        block.__enter__()
    calls = [name_of(own.call) for own in nodes["a"].requests]
    assert calls == ["begin_block", "end_block"], "the block is repeated without b"


class OpenedNode(Node):
    """It sees the folders of the others, and knows its circumstances."""

    values: Mapping[str, Any] = {
        "open": "/shared/own",
        "list_unseen": [],
        "circumstances": CIRCUMSTANCES,
    }

    def carry(self, request: TrialRequest) -> Answer | NoAnswer:
        answer = super().carry(request)
        if isinstance(answer, Answer) and answer.outcome is not None:
            return replace(answer, outcome=Outcome(self.values.get(name_of(request.call))))
        return answer


def rejoin(
    folder: Path, restarts: Restarts, *, present_at_start: bool = True
) -> tuple[list[str], TogetherNode, dict[str, str]]:
    """Run a block after node b was lost and has returned; return the calls of b since then."""
    request = parse(build_study(folder, 3, 3), where="test", name="test").workloads[0]
    nodes = {name: OpenedNode() for name in "ab"}
    crew, losses, _ = make(**nodes)
    together = TogetherNode(crew, 0.03, restarts)
    together.open()
    if present_at_start:
        together.circumstances()
    nodes["b"].ends_after = 0
    if present_at_start:
        with pytest.raises(TrialError, match="no answer of b"):
            together.block(request, seed=1, round_seed=1).__enter__()
    else:
        together.circumstances()
    assert crew.nodes == ("a",)
    nodes["b"].ends_after = 1000
    nodes["b"].status = ended(143, EndReason.LEASE)
    beat(crew)
    before = len(nodes["b"].requests)
    with together.block(request, seed=2, round_seed=2):
        pass
    return [name_of(own.call) for own in nodes["b"].requests[before:]], together, losses


def test_a_node_that_has_returned_is_opened_before_the_block(tmp_path: Path):
    restarts = Restarts()
    calls, together, _ = rejoin(tmp_path, restarts)
    assert calls == ["open", "list_unseen", "circumstances", "begin_block", "end_block"]
    assert together.crew.nodes == ("a", "b")
    ((node, number),) = restarts.begun
    assert (node, number > 0) == ("b", True), "its server knows which calls are old"


def test_a_node_without_a_server_stays_lost(tmp_path: Path):
    calls, together, losses = rejoin(tmp_path, Restarts(may_begin=False))
    assert (calls, together.crew.lost) == ([], ("b",))
    assert losses["b"] == "it cannot return: no space"


def test_a_node_that_was_lost_before_the_study_began_does_not_return(tmp_path: Path):
    _, together, losses = rejoin(tmp_path, Restarts(), present_at_start=False)
    assert together.crew.lost == ("b",)
    assert losses["b"] == "it cannot return: it was lost before the study began"


def test_a_node_that_has_changed_does_not_return(tmp_path: Path):
    calls, together, _ = rejoin(tmp_path, Restarts(same=False))
    assert calls == ["open", "list_unseen", "circumstances"]
    assert together.crew.lost == ("b",)
    beat(together.crew)
    assert together.crew.take_returned() == ()


def test_a_node_with_a_malformed_answer_takes_part_no_more(tmp_path: Path):
    restarts = Restarts()
    bad = OpenedNode()
    crew, losses, _ = make(a=OpenedNode(), b=bad)
    together = TogetherNode(crew, 0.03, restarts)
    together.open()
    bad.values = {"circumstances": {"host": "h"}}
    with pytest.raises(TrialError, match="b: its answer to circumstances is malformed"):
        together.circumstances()
    assert (crew.nodes, losses.keys()) == (("a",), {"b"})
