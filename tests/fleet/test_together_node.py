"""Blocks of all nodes, after errors and interrupts, without Dask."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from iostudy.errors import NotReadyError, WorkloadError
from iostudy.fleet.together_node import TogetherNode
from iostudy.study.parser import parse
from tests.fleet.test_crew import Node, failure, make
from tests.fleet.test_fleet_run import build_study


def run_block(folder: Path, error: BaseException) -> list[str]:
    """Leave a block by this error; return the names of the node's calls."""
    request = parse(build_study(folder, 3, 3), where="test", name="test").workloads[0]
    node = Node()
    crew, _, _ = make(a=node)
    with pytest.raises(type(error)), TogetherNode(crew, 0.03).block(request, seed=1):
        raise error
    return [name_of(own.call) for own in node.requests]


def name_of(call: Any) -> str:
    return str(call.__reduce__()[1][0])


def test_an_error_ends_the_block_on_every_node(tmp_path: Path):
    assert run_block(tmp_path, failure(WorkloadError, "no space")) == ["begin_block", "end_block"]


def test_an_interrupt_sends_no_other_call(tmp_path: Path):
    assert run_block(tmp_path, KeyboardInterrupt()) == ["begin_block"]


def test_a_block_runs_on_as_many_nodes_as_its_load_names(tmp_path: Path):
    request = parse(build_study(tmp_path, 3, 3), where="test", name="test").workloads[0]
    nodes = {name: Node() for name in "abcd"}
    crew, _, _ = make(**nodes)
    together = TogetherNode(crew, 0.03)
    for attempt in (1, 2):
        with together.block(replace(request, node_count=3), seed=attempt, round_seed=7):
            pass
    calls = sorted(tuple(name_of(own.call) for own in node.requests) for node in nodes.values())
    block = ("begin_block", "end_block")
    assert calls == [(), 2 * block, 2 * block, 2 * block], "an attempt changes no node"
    with pytest.raises(NotReadyError, match="4 are left"):
        together.block(replace(request, node_count=5), seed=1, round_seed=7).__enter__()
