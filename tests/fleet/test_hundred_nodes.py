"""A hundred nodes, each with a real sshd, a Dask worker and a server of trials, on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.ledger.rows import TrialStatus
from iostudy.results.node_parts import read_node_parts
from iostudy.settings.scratch.drive import available_memory
from iostudy.units import GIB
from tests.cli.program import Program
from tests.fleet.hosts import SUPERVISOR, find_processes
from tests.fleet.namespaces import Namespaces, needs_sshd
from tests.fleet.small_study import prepare_run

NAMES = tuple(f"h{number:03}" for number in range(1, 101))
MEMORY = 20 * GIB
"""A hundred workers, supervisors and servers need 18 GiB."""
HANG_GUARD_SECONDS = 1800
BLOCKS = 3

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.process,
    needs_sshd,
    pytest.mark.skipif(available_memory() < MEMORY, reason="needs 20 GiB of available memory"),
]


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Namespaces]:
    nodes = Namespaces(tmp_path, NAMES)
    yield nodes
    nodes.end()


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


def test_a_hundred_nodes_run_each_trial_at_once(
    nodes: Namespaces, program: Program, tmp_path: Path
):
    load = f"load: {{fleet.nodes: [1, {len(NAMES)}]}}\n"
    arguments = prepare_run(nodes, program, BLOCKS, more=load, lease="300s", design="together")
    process = program.start(*arguments)
    _, stderr = process.communicate(timeout=HANG_GUARD_SECONDS)
    assert process.returncode == 0, stderr
    counted = [row for row in program.rows() if row.counts]
    assert {row.status for row in counted} == {TrialStatus.FINISHED}
    parts = [read_node_parts(row.parts) for row in counted if row.workload.endswith("=100")]
    assert len(parts) == 2 * BLOCKS
    assert all({part.node for part in own} == set(NAMES) for own in parts)
    assert list((tmp_path / "work").iterdir()) == []
    assert list((tmp_path / "target").iterdir()) == []
    assert not any(find_processes(nodes.state(name), SUPERVISOR) for name in NAMES)
