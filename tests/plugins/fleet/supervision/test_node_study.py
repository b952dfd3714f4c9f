"""A study on a node with its supervisor, as real processes: lease, stop, kill and resume."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from iostudy.ledger.store import FILE_NAME, Ledger
from iostudy.study.parser import parse
from iostudy_fleet.design import Design
from iostudy_fleet.supervision import node_study
from iostudy_fleet.supervision.node_study import NodeStatus, Request, begin, contact, list_results
from iostudy_fleet.supervision.work_folder import EndReason, StudyOrder, WorkFolder, work_folder
from iostudy_fleet.together.trial_calls import carry
from iostudy_fleet.together.trial_messages import Answer, Call, ServerPhase, TrialRequest
from tests.cli.program import Program
from tests.cli.test_commands import WITHOUT_ROOT
from tests.plugins.fleet.hosts import kill_processes

pytestmark = pytest.mark.child

SETTING = """\
question: Which?
target: .
factors: {vm.page-cluster: [1, 2]}
workloads: [{dfsio-read: {files: 1, size: 1MiB}}]
decide: {margin: 99%, risk: 49%, blocks: [900, 900]}
"""
PAGE_CLUSTER = Path("/proc/sys/vm/page-cluster")
HANG_GUARD_SECONDS = 100


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    program = Program(tmp_path)
    monkeypatch.setenv("IOSTUDY_STATE_DIR", program.env["IOSTUDY_STATE_DIR"])
    yield program
    for module in ("iostudy_fleet.supervision.supervisor", "iostudy"):
        kill_processes(Path(program.env["IOSTUDY_STATE_DIR"]), module)
    program.end()


def order(text: str, lease_seconds: float = 60.0) -> StudyOrder:
    return StudyOrder(
        name="study", text=text, options=(), lease_seconds=lease_seconds, controller="here"
    )


def wait(folder: WorkFolder, is_enough: Callable[[NodeStatus], bool]) -> NodeStatus:
    end = time.monotonic() + HANG_GUARD_SECONDS
    while time.monotonic() < end:
        status = contact(folder, Request.CONTINUE)
        if is_enough(status):
            return status
        time.sleep(0.1)
    raise AssertionError(folder.log.read_text())


def has_ended(status: NodeStatus) -> bool:
    return not status.running


def test_a_study_runs_to_its_end_and_its_results_can_be_read(node: Program):
    folder = work_folder(node.folder, "0123", "n1")
    assert begin(folder, order(WITHOUT_ROOT), resumed=False) == ""
    assert begin(folder, order(WITHOUT_ROOT), resumed=False) == "", "it runs already"
    assert contact(folder, Request.CONTINUE).running
    status = wait(folder, has_ended)
    assert status.ending is not None, folder.log.read_text()
    assert (status.ending.exit_code, status.ending.reason) == (0, EndReason.FINISHED)
    files = {file.name: file for file in list_results(folder)}
    assert {FILE_NAME, "report.json"} <= set(files)
    ledger = node_study.read_piece(folder, FILE_NAME, 0, files[FILE_NAME].size)
    assert ledger == (folder.out / FILE_NAME).read_bytes()
    node_study.remove(folder)
    assert not folder.path.exists()


@pytest.mark.root
@pytest.mark.exclusive("host")
def test_without_heartbeats_the_node_stops_restores_and_says_so(node: Program):
    before = PAGE_CLUSTER.read_text()
    folder = work_folder(node.folder, "0123", "n1")
    begin(folder, order(SETTING, lease_seconds=4.0), resumed=False)
    wait(folder, lambda _: PAGE_CLUSTER.read_text() != before)
    end = time.monotonic() + HANG_GUARD_SECONDS
    while folder.read_ending() is None and time.monotonic() < end:
        time.sleep(0.1)
    ending = folder.read_ending()
    assert ending is not None
    assert ending.reason is EndReason.LEASE
    assert PAGE_CLUSTER.read_text() == before
    said = node("settings", "vm.swappiness").stderr
    assert "no heartbeat of the controller here for 4 s: the study study was stopped" in said
    assert "its settings are restored" in said
    trials = len(folder_rows(folder))
    wait(folder, has_ended)  # until then it counts as running, and nothing begins
    assert begin(folder, order(SETTING), resumed=False) == ""
    wait(folder, lambda _: len(folder_rows(folder)) > trials)
    contact(folder, Request.STOP)
    status = wait(folder, has_ended)
    assert status.ending is not None
    assert status.ending.reason is EndReason.STOPPED
    assert status.ending.may_begin_again
    assert PAGE_CLUSTER.read_text() == before


def test_what_another_process_terminates_may_not_begin_again(node: Program):
    folder = work_folder(node.folder, "0123", "n1")
    begin(folder, order(WITHOUT_ROOT), resumed=False)
    os.kill(int(folder.lock.read_text()), signal.SIGTERM)
    contact(folder, Request.STOP)
    status = wait(folder, has_ended)
    assert status.ending is not None
    assert status.ending.reason is EndReason.TERMINATED
    assert not status.ending.may_begin_again


@pytest.mark.root
@pytest.mark.exclusive("host")
def test_a_killed_supervisor_takes_the_study_with_it(node: Program):
    before = PAGE_CLUSTER.read_text()
    folder = work_folder(node.folder, "0123", "n1")
    begin(folder, order(SETTING), resumed=False)
    wait(folder, lambda _: (folder.out / FILE_NAME).exists())  # the check of the host is over
    wait(folder, lambda _: PAGE_CLUSTER.read_text() != before)
    os.kill(int(folder.lock.read_text()), signal.SIGKILL)
    status = wait(folder, has_ended)
    assert status.ending is None
    end = time.monotonic() + HANG_GUARD_SECONDS
    while "Resume with" not in folder.log.read_text():
        assert time.monotonic() < end, folder.log.read_text()
        time.sleep(0.1)
    assert PAGE_CLUSTER.read_text() == before


def folder_rows(folder: WorkFolder) -> tuple[object, ...]:
    ledger = Ledger.open(folder.out, read_only=True)
    try:
        return ledger.rows()
    finally:
        ledger.close()


def test_results_of_the_controller_are_not_replaced_by_a_new_study(node: Program):
    folder = work_folder(node.folder, "0123", "n1")
    assert "is gone" in begin(folder, order(WITHOUT_ROOT), resumed=True)
    assert not folder.path.exists()


def test_a_study_is_joined_stopped_for_another_lease_and_refused_if_it_is_another(node: Program):
    folder = work_folder(node.folder, "0123", "n1")
    own = order(WITHOUT_ROOT.replace("[3, 4]", "[900, 900]"))
    own = own.model_copy(update={"options": ("--yes",)})
    assert begin(folder, own, resumed=False) == ""
    elsewhere = own.model_copy(update={"controller": "another host"})
    assert begin(folder, elsewhere, resumed=False) == ""
    other = own.model_copy(update={"options": ()})
    assert "one still runs there" in begin(folder, other, resumed=False)
    assert contact(folder, Request.CONTINUE).running
    longer = own.model_copy(update={"lease_seconds": 90.0})
    assert begin(folder, longer, resumed=False) == ""
    status = wait(folder, has_ended)
    assert status.ending is not None
    assert status.ending.reason is EndReason.STOPPED, "the controller begins it again"


def test_a_server_of_another_run_is_not_joined(node: Program):
    folder = work_folder(node.folder, "0123", "n1")
    together = order(WITHOUT_ROOT).model_copy(update={"design": Design.TOGETHER})
    assert begin(folder, together, resumed=False) == ""
    assert "one still runs there" in begin(folder, together, resumed=False)


@pytest.mark.root
@pytest.mark.exclusive("host")
@pytest.mark.parametrize("request_to_end", [Request.STOP, None])
def test_a_node_at_the_start_line_restores_its_settings_when_it_has_to_stop(
    node: Program, request_to_end: Request | None
):
    """It stops by a request of the controller, or because the heartbeats have ended."""
    before = PAGE_CLUSTER.read_text()
    folder = work_folder(node.folder, "0123", "n1")
    text = SETTING.replace("target: .", f"target: {node.folder}").replace("[1, 2]", "[5, 6]")
    study = parse(text, where="study.yaml", name="study")
    together = order(text, 60.0 if request_to_end else 3.0)
    together = together.model_copy(update={"design": Design.TOGETHER})
    assert begin(folder, together, resumed=False) == ""
    calls = [
        Call("open"),
        Call("begin_block", (study.workloads[0].label, 1)),
        Call("trial", (study.baseline,)),
    ]
    for number, call in enumerate(calls, start=1):
        answer = settle(folder, TrialRequest(number, call, None, 1.0))
    assert answer.phase is ServerPhase.READY
    assert PAGE_CLUSTER.read_text() == "5\n"
    if request_to_end is not None:
        contact(folder, request_to_end)
    end = time.monotonic() + HANG_GUARD_SECONDS
    while folder.read_ending() is None and time.monotonic() < end:
        time.sleep(0.1)
    assert PAGE_CLUSTER.read_text() == before
    ending = folder.read_ending()
    assert ending is not None
    assert ending.reason is (EndReason.STOPPED if request_to_end else EndReason.LEASE)
    assert not list(node.folder.glob("iostudy-work-*"))


def settle(folder: WorkFolder, request: TrialRequest) -> Answer:
    end = time.monotonic() + HANG_GUARD_SECONDS
    while time.monotonic() < end:
        answer = carry(folder, request)
        assert answer.phase is not ServerPhase.ENDED, folder.log.read_text()
        if answer.is_settled:
            assert answer.outcome is None or answer.outcome.error is None, answer.outcome.error
            return answer
    raise AssertionError(folder.log.read_text())
