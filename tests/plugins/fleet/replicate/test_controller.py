"""The controller with nodes that answer, fall silent and come back."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from iostudy.errors import NOT_RESTORED, RecordError
from iostudy.ledger.store import FILE_NAME as LEDGER
from iostudy.ledger.store import Ledger
from iostudy_fleet.deployment.client import NoAnswer
from iostudy_fleet.replicate.controller import Controller, FleetStudy, States
from iostudy_fleet.supervision import node_study
from iostudy_fleet.supervision.node_state import NodeState, Phase
from iostudy_fleet.supervision.node_study import NodeStatus, Request, ResultFile
from iostudy_fleet.supervision.work_folder import Ending, EndReason, StudyOrder, WorkFolder
from tests.report.factory import study, study_row

ORDER = StudyOrder(name="s", text="", options=(), lease_seconds=0.2, controller="c")
CRASHED = NodeStatus(
    running=False, ending=Ending(exit_code=1, reason=EndReason.FINISHED), line="ImportError"
)
RUNNING = NodeStatus(running=True, ending=None, line="block 1")
DONE = NodeStatus(running=False, ending=Ending(exit_code=0, reason=EndReason.FINISHED), line="")
EXPIRED = NodeStatus(running=False, ending=Ending(exit_code=143, reason=EndReason.LEASE), line="")
UNRESTORED = Ending(exit_code=NOT_RESTORED, reason=EndReason.STOPPED)
LATE = NoAnswer("late")


@cache
def results() -> Mapping[str, bytes]:
    """The files of a ledger by their names."""
    with tempfile.TemporaryDirectory() as folder:
        Ledger.create(Path(folder), study_row(study())).close()
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


class Node:
    """Answers to heartbeats in their order; the last one is repeated.

    ``files`` are those of its output folder; ``resumed`` are the values of that option.
    """

    def __init__(
        self,
        *answers: NodeStatus | NoAnswer,
        broken: bool = False,
        refusal: str = "",
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        self.answers = list(answers)
        self.broken = broken
        self.refusal = refusal
        self.files = results() if files is None else files
        self.resumed: list[bool] = []
        self.requests: list[Request] = []
        self.removed = False

    def call(self, call: partial[Any]) -> Any:
        if call.func is node_study.begin:
            self.resumed.append(call.keywords["resumed"])
            return self.refusal
        if call.func is node_study.contact:
            self.requests.append(call.args[1])
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if call.func is node_study.list_results:
            return tuple(
                ResultFile(name, len(content), hashlib.sha256(content).hexdigest())
                for name, content in self.files.items()
            )
        if call.func is node_study.read_piece:
            _, name, offset, size = call.args
            return LATE if self.broken else self.files[name][offset : offset + size]
        assert call.func is node_study.remove
        self.removed = True
        return None


class Client:
    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self.own = nodes

    def call_all(self, calls: Mapping[str, partial[Any]], _seconds: float) -> dict[str, Any]:
        return {node: self.own[node].call(call) for node, call in calls.items()}

    def call(self, node: str, call: partial[Any], seconds: float) -> Any:
        answer = self.own[node].call(call)
        if isinstance(answer, NoAnswer):
            raise RecordError("", found=answer.reason, where=node, remedy="")
        return answer


def run(
    out: Path,
    on_change: Callable[[States, str], None] = lambda *_: None,
    fetched: Collection[str] = (),
    **nodes: Node,
) -> States:
    folders = {name: WorkFolder(Path(f"/nowhere/{name}")) for name in nodes}
    client: Any = Client(nodes)
    return Controller(client, FleetStudy(ORDER, folders, out), on_change, print).run(nodes, fetched)


def test_a_silent_node_is_lost_and_the_others_complete(tmp_path: Path):
    silent, busy = Node(RUNNING, LATE), Node(*[RUNNING] * 8, DONE)
    states = run(tmp_path, silent=silent, busy=busy)
    assert {name: own.phase for name, own in states.items()} == {
        "silent": Phase.LOST,
        "busy": Phase.COMPLETE,
    }
    assert {path.name: path.read_bytes() for path in (tmp_path / "busy").iterdir()} == results()
    assert busy.removed
    assert not silent.removed
    assert not (tmp_path / "silent").exists()


def test_a_node_that_comes_back_begins_again_if_its_lease_has_stopped_it(tmp_path: Path):
    back = Node(*[LATE] * 6, EXPIRED, RUNNING, DONE)
    busy = Node(*[RUNNING] * 15, DONE)
    phases: list[Phase] = []
    states = run(tmp_path, lambda found, name: phases.append(found[name].phase), a=back, b=busy)
    assert states["a"].phase is Phase.COMPLETE
    assert len(back.resumed) == 2
    assert phases.index(Phase.LOST) < phases.index(Phase.COMPLETE)


def test_a_node_that_stopped_before_the_controller_noticed_begins_again(tmp_path: Path):
    node = Node(RUNNING, EXPIRED, RUNNING, DONE)
    states = run(tmp_path, a=node)
    assert states["a"].phase is Phase.COMPLETE
    assert len(node.resumed) == 2


def test_results_are_recorded_before_the_folder_on_the_node_is_removed(tmp_path: Path):
    node = Node(DONE)
    phases: list[tuple[Phase, bool]] = []
    run(tmp_path, lambda found, name: phases.append((found[name].phase, node.removed)), a=node)
    assert phases == [
        (Phase.FETCHING, False),
        (Phase.FETCHED, False),
        (Phase.COMPLETE, True),
    ]


def test_a_node_with_fetched_results_begins_nothing_and_loses_its_folder(tmp_path: Path):
    node = Node(DONE)
    states = run(tmp_path, fetched=("a",), a=node)
    assert states["a"].phase is Phase.COMPLETE
    assert (node.resumed, node.requests, node.removed) == ([], [], True)


def test_a_node_that_crashed_has_failed_and_keeps_its_folder(tmp_path: Path):
    """Python ends with 1 if a module cannot be imported; the study may then be partial."""
    node = Node(CRASHED)
    states = run(tmp_path, a=node)
    assert (states["a"].phase, node.removed) == (Phase.FAILED, False)
    assert "ended with 1: ImportError" in states["a"].detail
    assert run(tmp_path, a=Node(DONE))["a"].phase is Phase.COMPLETE


def test_a_node_without_a_whole_ledger_has_failed_and_keeps_its_folder(tmp_path: Path):
    none, unsealed = Node(DONE, files={}), Node(DONE, files={LEDGER: results()[LEDGER]})
    states = run(tmp_path, none=none, unsealed=unsealed)
    assert "there is no ledger.sqlite" in states["none"].detail
    assert "the seal of the ledger" in states["unsealed"].detail
    assert {state.phase for state in states.values()} == {Phase.FAILED}
    assert not none.removed
    assert not unsealed.removed


def test_a_node_resumes_only_if_there_are_results_of_it(tmp_path: Path):
    """One that crashed before it had a ledger begins; its empty folder here is no reason not to."""
    node = Node(CRASHED, DONE, files={})
    run(tmp_path, a=node)
    node.files = results()
    assert run(tmp_path, a=node)["a"].phase is Phase.COMPLETE
    run(tmp_path, a=node)
    assert node.resumed == [False, False, True]


def test_an_interrupt_names_the_nodes_that_did_not_stop_or_restore(tmp_path: Path):
    def interrupt(found: States, name: str) -> None:
        states.update(found)
        if name == "done":
            raise KeyboardInterrupt

    states: dict[str, NodeState] = {}
    kept = NodeStatus(running=False, ending=UNRESTORED, line="swappiness")
    nodes = {"done": Node(RUNNING, DONE), "kept": Node(RUNNING, RUNNING, kept), "mute": Node(LATE)}
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, interrupt, **nodes)
    assert states["kept"].is_unrestored
    assert "no answer to the stop" in states["mute"].detail


def test_results_that_do_not_arrive_stay_on_the_node(tmp_path: Path):
    node = Node(DONE, broken=True)
    states = run(tmp_path, a=node)
    assert states["a"].phase is Phase.LOST
    assert "could not be fetched" in states["a"].detail
    assert not node.removed
    assert not (tmp_path / "a").exists()


def test_an_interrupt_requests_every_running_node_to_stop(tmp_path: Path):
    def interrupt(_states: States, name: str) -> None:
        if name == "done":
            raise KeyboardInterrupt

    nodes = {"done": Node(RUNNING, DONE), "busy": Node(RUNNING)}
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, interrupt, **nodes)
    assert nodes["busy"].requests.count(Request.STOP) == 1
    assert Request.STOP not in nodes["done"].requests


def test_a_node_that_refuses_the_study_has_failed(tmp_path: Path):
    states = run(tmp_path, a=Node(DONE), b=Node(RUNNING, refusal="no space"))
    assert states["a"].phase is Phase.COMPLETE
    assert (states["b"].phase, states["b"].detail) == (Phase.FAILED, "no space")
