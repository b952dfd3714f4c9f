"""Many nodes that run trials together, each with a real sshd, on this machine."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from iostudy.ledger.rows import TrialRow, TrialStatus
from iostudy.units import GIB
from iostudy_fleet.together.joint_run import read_node_parts
from iostudy_lab.device.drive import available_memory
from tests.cli.program import Program
from tests.plugins.fleet.hosts import AGENT, SUPERVISOR, find_processes
from tests.plugins.fleet.namespaces import Namespaces, needs_sshd
from tests.plugins.fleet.small_study import prepare_run

MEMORY = 20 * GIB
"""A hundred agents, supervisors and servers need 18 GiB."""
HANG_GUARD_SECONDS = 1800
BLOCKS = 3
HUNDRED = pytest.param(
    100,
    marks=[
        pytest.mark.slow,
        pytest.mark.skipif(available_memory() < MEMORY, reason="needs 20 GiB of available memory"),
    ],
)

pytestmark = [pytest.mark.root, pytest.mark.process, needs_sshd]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


@pytest.fixture
def nodes(tmp_path: Path, count: int) -> Iterator[Namespaces]:
    nodes = Namespaces(tmp_path, tuple(f"h{number:03}" for number in range(count)))
    yield nodes
    nodes.end()


@pytest.mark.parametrize("count", [4, HUNDRED])
def test_one_and_many_nodes_run_each_trial_at_once_and_one_ledger_has_them(
    nodes: Namespaces, program: Program, count: int
):
    load = f"load: {{fleet.nodes: [1, {count}]}}\n"
    arguments = prepare_run(nodes, program, BLOCKS, more=load, lease="300s", design="together")
    process = program.start(*arguments)
    _, stderr = process.communicate(timeout=HANG_GUARD_SECONDS)
    assert process.returncode == 0, stderr
    counted = [row for row in program.rows() if row.counts]
    assert {row.status for row in counted} == {TrialStatus.FINISHED}
    require_joint_figures(counted)
    drawn = nodes_by_workload(counted)
    assert [len(own) for own in drawn["dfsio-read at nodes=1"]] == BLOCKS * [1]
    assert drawn[f"dfsio-read at nodes={count}"] == BLOCKS * [frozenset(nodes.names)]
    report = json.loads((program.out / "report.json").read_text())
    assert report["state"] == "complete"
    (curve,) = report["curves"]
    assert [own["load"] for own in curve["levels"]] == [1, count]
    assert all(own["points"][1]["efficiency"] > 0 for own in curve["curves"])
    assert (report["together"]["drawn"], report["together"]["absences"]) == (True, [])
    assert list((program.folder / "work").iterdir()) == [], "a complete study stays on no node"
    assert list((program.folder / "target").iterdir()) == []
    states = [nodes.state(name) for name in nodes.names]
    assert not any(find_processes(own, AGENT) + find_processes(own, SUPERVISOR) for own in states)
    again = program(*arguments, "--resume")
    assert (again.returncode, "is complete" in again.stderr) == (0, True), again.stderr


def require_joint_figures(rows: Sequence[TrialRow]) -> None:
    """AssertionError if a figure is not that of all nodes, from first start to last end."""
    for row in rows:
        parts = read_node_parts(row.parts)
        assert row.figures is not None
        assert row.figures["bytes"] == len(parts) << 20
        assert min(own.start_after for own in parts) == 0
        errors = 4 * max(own.error for own in parts)  # of two starts and two ends
        last = max(own.start_after + own.seconds for own in parts)
        assert row.figures["exec_time"] == pytest.approx(last, abs=errors, rel=0.01)


def nodes_by_workload(rows: Sequence[TrialRow]) -> dict[str, list[frozenset[str]]]:
    """The nodes of each block of each workload; AssertionError if those of a block differ."""
    found: dict[tuple[str, int], set[frozenset[str]]] = defaultdict(set)
    for row in rows:
        nodes = frozenset(own.node for own in read_node_parts(row.parts))
        found[row.workload, row.block].add(nodes)
    drawn: dict[str, list[frozenset[str]]] = defaultdict(list)
    for (workload, _), sets in found.items():
        (nodes,) = sets
        drawn[workload].append(nodes)
    return drawn
