"""A fleet by OpenSSH, with nodes in network namespaces and a cable that is cut."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from iostudy_fleet.design import Design
from iostudy_fleet.record import read_record
from iostudy_fleet.supervision.node_state import Phase
from iostudy_fleet.supervision.work_folder import EndReason, WorkFolder
from iostudy_fleet.together.joint_run import read_node_parts
from tests.cli.program import Program
from tests.plugins.fleet.hosts import SUPERVISOR, find_processes
from tests.plugins.fleet.namespaces import Namespaces, needs_sshd
from tests.plugins.fleet.small_study import HANG_GUARD_SECONDS, prepare_run, wait_until

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.process,
    needs_sshd,
]
NAMES = ("n1", "n2", "n3")
DELAY_SECONDS, LOSS = 0.02, 0.01
CUT_SECONDS = 40
"""Long beside the lease."""


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Namespaces]:
    nodes = Namespaces(tmp_path, NAMES)
    yield nodes
    nodes.end()


def test_a_cut_cable_stops_one_node_and_resume_completes_it(nodes: Namespaces, tmp_path: Path):
    program = Program(tmp_path)
    arguments = prepare_run(nodes, program, blocks=60)
    check = program("fleet", "check", "study.yaml", "--inventory", "inventory", "--limit", "nodes")
    assert check.returncode == 0, check.stderr
    process = program.start(*arguments)
    wait_until(lambda: all(find_processes(nodes.state(name), SUPERVISOR) for name in NAMES))
    nodes.set_link("n1", "down")
    _, stderr = process.communicate(timeout=3 * HANG_GUARD_SECONDS)
    assert process.returncode == 3, stderr
    assert "n1 is lost: no answer for 12 s" in stderr
    assert "n2 is complete" in stderr
    assert "n3 is complete" in stderr
    record = read_record(program.out)
    assert record is not None
    folder = WorkFolder(Path(record.nodes["n1"].folder))
    wait_until(lambda: not find_processes(nodes.state("n1"), SUPERVISOR))
    ending = folder.read_ending()
    assert ending is not None
    assert ending.reason is EndReason.LEASE
    nodes.set_link("n1", "up")
    resumed = program(*arguments, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert "Changes against 1MiB" in resumed.stdout


@pytest.mark.skipif(not Path("/dev/net/tun").exists(), reason="needs tun(4)")
@pytest.mark.parametrize("design", list(Design))
def test_a_slow_link_that_loses_packets_costs_no_node(
    nodes: Namespaces, tmp_path: Path, design: Design
):
    program = Program(tmp_path)
    arguments = prepare_run(nodes, program, blocks=3, design=design.value)
    nodes.slow_down("n2", DELAY_SECONDS, LOSS)
    assert nodes.measure_round_trip("n2") >= 2 * DELAY_SECONDS
    run = program(*arguments)
    assert run.returncode == 0, run.stderr
    record = read_record(program.out)
    assert record is not None
    assert {own.phase for own in record.nodes.values()} == {Phase.COMPLETE}
    if design is Design.TOGETHER:
        parts = [own for row in program.rows() for own in read_node_parts(row.parts)]
        errors = [own.error for own in parts if own.node == "n2"]
        assert all(DELAY_SECONDS <= error < 2 * DELAY_SECONDS for error in errors), "half a trip"


def test_nodes_with_other_clocks_run_trials_together_and_a_cut_cable_loses_one(tmp_path: Path):
    clocks = {"n1": 0, "n2": 1000, "n3": -3600}
    nodes = Namespaces(tmp_path, NAMES, clocks)
    try:
        run_together(nodes, tmp_path)
    finally:
        nodes.end()


def run_together(nodes: Namespaces, tmp_path: Path) -> None:
    program = Program(tmp_path)
    process = program.start(*prepare_run(nodes, program, blocks=8, design="together"))
    program.wait_for_trials(process, 4)
    nodes.set_link("n2", "down")
    _, stderr = process.communicate(timeout=3 * HANG_GUARD_SECONDS)
    assert process.returncode == 3, stderr
    assert "n2 is lost: no answer for 12 s" in stderr
    counted = [row for row in program.rows() if row.counts]
    assert {row.block for row in counted} == set(range(1, 9))
    nodes_of = [{own.node for own in read_node_parts(row.parts)} for row in counted]
    assert nodes_of[0] == set(NAMES)
    assert nodes_of[-1] == {"n1", "n3"}
    for row in counted:
        for own in read_node_parts(row.parts):
            assert own.start_after < 1, "offsets of hours do not show"
            assert own.error < 0.1
    wait_until(lambda: not find_processes(nodes.state("n2"), SUPERVISOR))
    assert not list((tmp_path / "target").iterdir()), "the lost node has removed its data"
    nodes.set_link("n2", "up")


def test_a_node_behind_a_cable_that_was_cut_for_a_while_takes_part_again(
    nodes: Namespaces, tmp_path: Path
):
    program = Program(tmp_path)
    process = program.start(*prepare_run(nodes, program, blocks=75, design="together"))
    program.wait_for_trials(process, 4)
    nodes.set_link("n2", "down")
    time.sleep(CUT_SECONDS)
    nodes.set_link("n2", "up")
    _, stderr = process.communicate(timeout=4 * HANG_GUARD_SECONDS)
    assert process.returncode == 3, stderr
    assert "n2 is lost: no answer for 12 s" in stderr
    assert "n2 answers again" in stderr
    counted = [row for row in program.rows() if row.counts]
    sets = [frozenset(own.node for own in read_node_parts(row.parts)) for row in counted]
    everybody = frozenset(NAMES)
    assert [own for own, _ in groupby(sets)] == [everybody, everybody - {"n2"}, everybody]
    assert not list((tmp_path / "target").iterdir())
