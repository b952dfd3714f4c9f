"""`iostudy fleet run --design together`, with real agents and trials on several nodes."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.ledger.rows import TrialStatus
from iostudy_fleet.record import read_record
from iostudy_fleet.supervision.node_state import Phase
from iostudy_fleet.together.joint_run import read_node_parts
from tests.plugins.fleet.hosts import AGENT, SUPERVISOR, Hosts
from tests.plugins.fleet.small_study import (
    HANG_GUARD_SECONDS,
    require_varied_and_restored,
    run_arguments,
    wait_until,
    write_declared_study,
    write_study,
)
from tests.plugins.fleet.traps import nodes_among_traps

pytestmark = pytest.mark.process

TOGETHER = ("--design", "together")
NODES = {"n1", "n2"}
BLOCKS = 12
FEW_BLOCKS = 6


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    hosts = Hosts(tmp_path)
    write_study(hosts, 3)
    yield hosts
    hosts.end()


def complete(hosts: Hosts, arguments: list[str], blocks: int = BLOCKS) -> None:
    """Resume; every block of the study is then complete, and nothing is left on a node."""
    resumed = hosts.controller(*arguments, *TOGETHER, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    counted = {row.block for row in hosts.controller.rows() if row.counts}
    assert counted == set(range(1, blocks + 1))
    assert list((hosts.folder / "work").iterdir()) == []
    assert list((hosts.folder / "target").iterdir()) == []


def write_load(hosts: Hosts, levels: str, blocks: int, least: int = 3) -> None:
    """Write the study with numbers of nodes as its load."""
    write_study(hosts, blocks, least=least)
    text = (hosts.controller.folder / "study.yaml").read_text()
    hosts.controller.write(f"{text}load: {{fleet.nodes: {levels}}}\n")


def nodes_by_workload(hosts: Hosts) -> dict[str, dict[int, set[frozenset[str]]]]:
    """The nodes of each counted block of each workload."""
    found: dict[str, dict[int, set[frozenset[str]]]] = {}
    for row in hosts.controller.rows():
        if row.counts:
            nodes = frozenset(own.node for own in read_node_parts(row.parts))
            found.setdefault(row.workload, {}).setdefault(row.block, set()).add(nodes)
    return found


def test_two_nodes_run_each_trial_at_once_and_restore_a_setting_of_the_study(hosts: Hosts):
    with nodes_among_traps(hosts, *sorted(NODES)):
        write_declared_study(hosts)
        arguments = run_arguments(hosts, "ssh:n1,n2", lease="60s")  # of a busy host too
        done = hosts.controller(*arguments, *TOGETHER)
        assert done.returncode == 0, done.stderr
    rows = hosts.controller.rows()
    assert {row.status for row in rows} == {TrialStatus.FINISHED}
    for row in rows:
        assert {own.node for own in read_node_parts(row.parts)} == NODES
    require_varied_and_restored(hosts)
    assert list((hosts.folder / "work").iterdir()) == [], "a complete study stays on no node"
    pooled = hosts.controller("fleet", "report", "out")
    assert (pooled.returncode, "iostudy report out" in pooled.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("module", [AGENT, SUPERVISOR])
def test_a_lost_node_is_in_no_later_block_and_its_own_is_repeated(hosts: Hosts, module: str):
    nodes = hosts.add("n1", "n2", "n3")
    write_study(hosts, BLOCKS, least=BLOCKS)
    process = hosts.controller.start(*run_arguments(hosts, nodes), *TOGETHER)
    hosts.controller.wait_for_trials(process, 3)
    hosts.kill("n3", module)
    _, stderr = process.communicate(timeout=HANG_GUARD_SECONDS)
    assert process.returncode == 3, stderr
    assert "n3 is lost: " in stderr
    counted = [row for row in hosts.controller.rows() if row.counts]
    assert {row.block for row in counted} == set(range(1, BLOCKS + 1))
    by_block: dict[int, set[frozenset[str]]] = {}
    for row in counted:
        present = frozenset(own.node for own in read_node_parts(row.parts))
        by_block.setdefault(row.block, set()).add(present)
    assert all(len(sets) == 1 for sets in by_block.values()), "a pair has the same nodes"
    last = by_block[BLOCKS]
    assert last == {frozenset(NODES)}
    absences = json.loads((hosts.controller.out / "report.json").read_text())["together"][
        "absences"
    ]
    assert {tuple(own["missing"]) for own in absences} == {("n3",)}
    wait_until(lambda: not hosts.find("n3", SUPERVISOR))
    wait_until(lambda: not list((hosts.folder / "target").iterdir()))


@pytest.mark.slow
def test_a_node_that_answers_again_is_in_whole_blocks_and_a_load_waits_for_it(hosts: Hosts):
    nodes = hosts.add("n1", "n2", "n3")
    write_load(hosts, "[2, 3]", 2 * BLOCKS, least=2 * BLOCKS)
    process = hosts.controller.start(*run_arguments(hosts, nodes), *TOGETHER)
    hosts.controller.wait_for_trials(process, 5)
    hosts.send("n3", AGENT, signal.SIGSTOP)
    wait_until(lambda: phase_of(hosts, "n3") is Phase.LOST)
    wait_until(lambda: not hosts.find("n3", SUPERVISOR))
    hosts.send("n3", AGENT, signal.SIGCONT)
    _, stderr = process.communicate(timeout=3 * HANG_GUARD_SECONDS)
    assert process.returncode == 3, stderr
    assert "n3 is lost: no answer for 8 s" in stderr
    assert "n3 answers again, and takes part from this block on" in stderr
    drawn = nodes_by_workload(hosts)
    sets = {(load, block): own for load, blocks in drawn.items() for block, own in blocks.items()}
    assert len(sets) == 4 * BLOCKS, "no load is given up"
    assert all(len(own) == 1 for own in sets.values()), "a block compares the same nodes"
    assert {own for (own,) in drawn["dfsio-read at nodes=3"].values()} == {frozenset(hosts.names)}
    counted = [row for row in hosts.controller.rows() if row.counts]
    without = [n for n, row in enumerate(counted) if any("without n3" in own for own in row.notes)]
    assert without, "the load of two nodes continues"
    assert {counted[n].workload for n in without} == {"dfsio-read at nodes=2"}
    assert without == list(range(without[0], without[-1] + 1))
    assert without[-1] < len(counted) - 1
    assert phase_of(hosts, "n3") is Phase.COMPLETE
    assert list((hosts.folder / "work").iterdir()) == []
    assert list((hosts.folder / "target").iterdir()) == []


def phase_of(hosts: Hosts, node: str) -> Phase:
    record = read_record(hosts.controller.out)
    assert record is not None
    return record.nodes[node].phase


@pytest.mark.slow
def test_a_server_that_a_killed_controller_left_is_replaced_by_resume(hosts: Hosts):
    nodes = hosts.add("n1", "n2")
    write_study(hosts, BLOCKS, least=BLOCKS)
    arguments = run_arguments(hosts, nodes, lease="60s")
    process = hosts.controller.start(*arguments, *TOGETHER)
    hosts.controller.wait_for_trials(process, 3)
    process.kill()
    process.communicate()
    assert hosts.find("n1", SUPERVISOR), "its lease has not expired"
    complete(hosts, arguments)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_without_a_controller_every_node_stops_and_resume_completes(hosts: Hosts, number: int):
    nodes = hosts.add("n1", "n2")
    write_study(hosts, BLOCKS, least=BLOCKS)
    arguments = run_arguments(hosts, nodes)
    process = hosts.controller.start(*arguments, *TOGETHER)
    hosts.controller.wait_for_trials(process, 3)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=HANG_GUARD_SECONDS)
    wait_until(lambda: not any(hosts.find(node, SUPERVISOR) for node in NODES))
    assert list((hosts.folder / "target").iterdir()) == [], "every node has restored all"
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "resume with --resume" in stderr
    finished = [row for row in hosts.controller.rows() if row.counts]
    complete(hosts, arguments)
    kept = [row for row in hosts.controller.rows() if row.counts]
    assert kept[: len(finished)] == finished, "no finished trial is lost"


@pytest.mark.slow
def test_what_nodes_cannot_run_together_is_refused_before_anything_begins(hosts: Hosts):
    text = (hosts.controller.folder / "study.yaml").read_text()
    hosts.controller.write(text.replace("size: 1MiB}", "size: 1MiB, figure: throughput}"))
    done = hosts.controller(*run_arguments(hosts, hosts.add("n1", "n2")), *TOGETHER)
    assert (done.returncode, "the figure throughput" in done.stderr) == (2, True)
    assert not hosts.controller.out.exists()
    write_study(hosts, 3)
    alone = hosts.controller(*run_arguments(hosts, "ssh:n1"), *TOGETHER)
    assert (alone.returncode, "2 nodes or more" in alone.stderr) == (2, True)


@pytest.mark.slow
def test_a_load_of_more_nodes_than_are_left_waits_and_smaller_ones_are_decided(hosts: Hosts):
    nodes = hosts.add("n1", "n2", "n3")
    write_load(hosts, "[1, 3]", FEW_BLOCKS, least=FEW_BLOCKS)
    process = hosts.controller.start(*run_arguments(hosts, nodes), *TOGETHER)
    hosts.controller.wait_for_trials(process, 5)
    hosts.kill("n3", AGENT)
    _, stderr = process.communicate(timeout=HANG_GUARD_SECONDS)
    assert process.returncode == 3, stderr
    assert "dfsio-read at nodes=3 is given up" in stderr
    assert "it could not begin: 3 nodes at least, but 2 are left" in stderr
    drawn = nodes_by_workload(hosts)
    assert len(drawn["dfsio-read at nodes=1"]) == FEW_BLOCKS
    assert len(drawn["dfsio-read at nodes=3"]) < FEW_BLOCKS
    assert all(len(own) == 1 for blocks in drawn.values() for own in blocks.values())
    report = json.loads((hosts.controller.out / "report.json").read_text())
    assert [own["attempts"] for own in report["given_up"]] == [0]
    assert "some trials drew their nodes without n3, lost before the block" in report["notes"]
    wait_until(lambda: not hosts.find("n3", SUPERVISOR))
    complete(hosts, run_arguments(hosts, nodes), FEW_BLOCKS)


@pytest.mark.slow
def test_a_load_of_nodes_is_refused_by_one_host_and_by_too_few_nodes(hosts: Hosts):
    nodes = hosts.add("n1", "n2")
    write_load(hosts, "[1, 3]", 3)
    together = hosts.controller(*run_arguments(hosts, nodes), *TOGETHER)
    assert (together.returncode, "3 nodes or more" in together.stderr) == (2, True)
    fleet = hosts.controller("fleet", "check", "study.yaml", "--nodes", nodes)
    assert (fleet.returncode, "3 nodes or more" in fleet.stderr) == (2, True)
    for command in (run_arguments(hosts, nodes), ["run", "study.yaml"], ["power", "study.yaml"]):
        done = hosts.controller(*command)
        assert (done.returncode, "a study of one host" in done.stderr) == (2, True)
        assert "iostudy fleet run --design together" in done.stderr
    assert not hosts.controller.out.exists()
    assert not (hosts.controller.folder / "results").exists()
    checked = hosts.controller("check", "study.yaml", "--full")
    assert (checked.returncode, "nodes of 1, 3" in checked.stdout) == (0, True)
