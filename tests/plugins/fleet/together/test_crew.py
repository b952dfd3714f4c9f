"""A crew with nodes that answer, fail and fall silent, without agents."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from iostudy.errors import NOT_RESTORED, IostudyError, RestoreError, TrialError, WorkloadError
from iostudy_fleet.clock_offset import Exchange
from iostudy_fleet.deployment.client import NoAnswer
from iostudy_fleet.supervision.node_study import NodeStatus, Request
from iostudy_fleet.supervision.work_folder import Ending, EndReason, WorkFolder
from iostudy_fleet.together.crew import Crew
from iostudy_fleet.together.trial_messages import (
    Answer,
    Call,
    LateStartError,
    NodeError,
    NotStartedError,
    Outcome,
    ServerPhase,
    TrialRequest,
)

LATE = NoAnswer("late")
LEASE_SECONDS = 0.2
LONG_LEASE_SECONDS = 2.0
"""For tests in which a pause of a busy host must not cost a lease."""
CALL = Call("trial")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call without an answer is sent again at once."""
    monkeypatch.setattr("iostudy_fleet.together.crew._RETRY_SECONDS", 0.0)


class Node:
    """A node whose clock is ahead by ``clock``; ``error`` is that of its call."""

    def __init__(
        self,
        clock: float = 0.0,
        error: IostudyError | None = None,
        silent_after: int = 1000,
        ends_after: int = 1000,
    ) -> None:
        self.clock = clock
        self.error = error
        self.phases: list[ServerPhase | None] = []
        self.late = 0
        self.read_at = 0.0
        self.released_after = 0.0
        self.silent_after = silent_after
        self.ends_after = ends_after
        self.requests: list[TrialRequest] = []
        self.contacts: list[Request] = []
        self.status: NodeStatus | NoAnswer = NodeStatus(running=True, ending=None, line="")

    def contact(self, request: Request) -> NodeStatus | NoAnswer:
        self.contacts.append(request)
        return self.status

    def carry(self, request: TrialRequest) -> Answer | NoAnswer:
        self.requests.append(request)
        if len(self.requests) <= len(self.phases):
            phase = self.phases[len(self.requests) - 1]
            return LATE if phase is None else Answer(phase)
        if len(self.requests) > self.silent_after:
            return LATE
        if request.call is None or len(self.requests) > self.ends_after:
            return Answer(ServerPhase.ENDED, line="killed")
        if self.error is not None:
            return Answer(ServerPhase.DONE, Outcome(error=NodeError.describe(self.error)))
        if request.release is None and request.call is CALL:
            return Answer(ServerPhase.READY)
        if request.release is not None and request.release.instant is None:
            error = NotStartedError("", found="called off", where="", remedy="")
            return Answer(ServerPhase.DONE, Outcome(error=NodeError.describe(error)))
        self.released_after = self.read_at
        self.late -= 1
        late = NodeError.describe(failure(LateStartError, "late"))
        error = late if self.late >= 0 else None
        return Answer(ServerPhase.DONE, Outcome(value=request.release, error=error))

    def read_clock(self) -> float:
        self.read_at = time.monotonic()
        return self.read_at + self.clock


class Client:
    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self.nodes = nodes
        self.mute: set[str] = set()
        self.call_seconds = LEASE_SECONDS / 10
        self.answered = threading.Semaphore(0)

    def call_all(self, calls: Mapping[str, partial[Any]], _seconds: float) -> dict[str, Any]:
        time.sleep(self.call_seconds)
        answers = {
            node: self._answer(self.nodes[node], call.args[1]) for node, call in calls.items()
        }
        self.answered.release()
        return answers

    def _answer(self, node: Node, request: TrialRequest | Request) -> Any:
        return node.contact(request) if isinstance(request, Request) else node.carry(request)

    def time_exchanges(
        self, nodes: Collection[str], _read: Callable[[], object], count: int, _seconds: float
    ) -> dict[str, list[Exchange] | NoAnswer]:
        return {node: LATE if node in self.mute else self._ask(node, count) for node in nodes}

    def _ask(self, node: str, count: int) -> list[Exchange]:
        found = []
        for _ in range(count):
            sent, other = time.monotonic(), self.nodes[node].read_clock()
            found.append(Exchange(sent, other, other, time.monotonic()))
        return found


def make(**nodes: Node) -> tuple[Crew, dict[str, str], Client]:
    return make_with_lease(LEASE_SECONDS, **nodes)


def make_with_lease(seconds: float, **nodes: Node) -> tuple[Crew, dict[str, str], Client]:
    folders = {name: WorkFolder(Path(f"/nowhere/{name}")) for name in nodes}
    lost: dict[str, str] = {}
    client = Client(nodes)
    return Crew(client, folders, seconds, lost.__setitem__), lost, client


def failure(kind: type[IostudyError], found: str) -> IostudyError:
    return kind("w", found=found, where="here", remedy="r")


def test_all_nodes_start_at_one_instant_of_their_own_clocks():
    crew, _, _ = make(a=Node(), b=Node(clock=3600.0), c=Node(clock=-40.5))
    found = crew.run_together(lambda _: CALL, crew.nodes)
    instants = {node: release.instant for node, release in found.values.items()}
    assert instants["b"] - instants["a"] == pytest.approx(3600.0, abs=0.01)
    assert instants["c"] - instants["a"] == pytest.approx(-40.5, abs=0.01)
    assert instants["a"] > time.monotonic(), "the instant is ahead"
    before, after = found.offsets["b"]
    assert (before.seconds, after.seconds) == pytest.approx((3600.0, 3600.0), abs=0.01)


def test_a_node_that_fails_calls_the_run_off_and_its_error_is_raised():
    ready, broken = Node(), Node(error=failure(WorkloadError, "no space"))
    crew, lost, _ = make(a=ready, b=broken)
    with pytest.raises(WorkloadError, match="b: no space"):
        crew.run_together(lambda _: CALL, crew.nodes)
    release = ready.requests[-1].release
    assert release is not None
    assert release.instant is None
    assert lost == {}


def test_after_a_late_start_all_nodes_start_again_with_twice_the_time():
    nodes = {"a": Node(), "b": Node()}
    crew, _, _ = make(**nodes)
    first = measure_lead(crew, nodes["a"])
    nodes["b"].late = 1
    before = len(nodes["a"].requests)
    found = crew.run_together(lambda _: CALL, crew.nodes)
    assert found.late == 1
    assert len(nodes["a"].requests) == before + 4, "to the start line and released, twice"
    assert 0.5 < first < 1.0 < measure_lead(crew, nodes["a"]) < 2.0


def test_a_node_that_is_late_for_the_longest_time_ends_the_call(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("iostudy_fleet.together.crew._LONGEST_LEAD_SECONDS", 1.0)
    crew, _, _ = make(a=Node(), b=(late := Node()))
    late.late = 9
    with pytest.raises(LateStartError, match="b: late"):
        crew.run_together(lambda _: CALL, crew.nodes)
    assert late.late == 7, "it was tried twice"


def test_a_server_that_does_not_listen_is_lost(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("iostudy_fleet.together.crew._START_SECONDS", 0.0)
    deaf = Node()
    deaf.phases = [ServerPhase.STARTING] * 999
    crew, lost, _ = make(a=Node(), deaf=deaf)
    assert crew.run(lambda _: Call("open"), crew.nodes).keys() == {"a"}
    assert lost == {"deaf": "its server of trials does not listen"}


def test_a_server_that_ends_after_a_long_call_is_lost_with_its_last_line(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("iostudy_fleet.together.crew._START_SECONDS", 0.0)
    long = Node(ends_after=0)
    long.phases = [*[ServerPhase.BUSY] * 15, ServerPhase.STARTING]
    crew, lost, _ = make(long=long)
    assert crew.run(lambda _: Call("trial"), crew.nodes) == {}
    assert lost == {"long": "its server of trials has ended: killed"}


def measure_lead(crew: Crew, node: Node) -> float:
    """Seconds from the last reading of the node's clock before a start to its instant."""
    release = crew.run_together(lambda _: CALL, crew.nodes).values["a"]
    return float(release.instant) - node.released_after


def test_what_is_not_restored_is_raised_before_all_else():
    crew, _, _ = make(
        a=Node(error=failure(WorkloadError, "no space")),
        b=Node(error=failure(RestoreError, "kept")),
    )
    with pytest.raises(RestoreError, match="b: kept"):
        crew.run(lambda _: CALL, crew.nodes)


def test_a_silent_node_is_lost_and_no_run_counts():
    crew, lost, _ = make(a=Node(), b=Node(silent_after=1), c=Node())
    with pytest.raises(TrialError, match="no answer of b"):
        crew.run_together(lambda _: CALL, crew.nodes)
    assert lost.keys() == {"b"}
    assert crew.nodes == ("a", "c")
    assert crew.run_together(lambda _: CALL, crew.nodes).values.keys() == {"a", "c"}


def test_a_node_without_its_server_is_lost_at_once():
    crew, lost, _ = make(a=Node(), b=Node(ends_after=0))
    with pytest.raises(TrialError, match="no answer of b"):
        crew.run_together(lambda _: CALL, crew.nodes)
    assert lost == {"b": "its server of trials has ended: killed"}


def test_without_the_offset_of_a_clock_nothing_runs():
    crew, lost, client = make(a=Node(), b=Node())
    client.mute.add("b")
    with pytest.raises(TrialError, match="no answer of b"):
        crew.run_together(lambda _: CALL, crew.nodes)
    assert lost == {}


def test_without_any_node_every_call_fails():
    crew, _, _ = make(a=Node(ends_after=0))
    assert crew.run(lambda _: CALL, crew.nodes) == {}
    with pytest.raises(TrialError, match="every node is lost"):
        crew.run(lambda _: CALL, crew.nodes)


def test_the_last_call_waits_for_the_end_of_every_server():
    nodes = {"a": Node(), "b": Node(silent_after=0)}
    crew, _, _ = make(**nodes)
    crew.end()
    assert [own.call for own in nodes["a"].requests] == [None]


def ended(code: int, reason: EndReason) -> NodeStatus:
    return NodeStatus(running=False, ending=Ending(exit_code=code, reason=reason), line="")


UNRESTORED = ended(NOT_RESTORED, EndReason.LEASE)


def beat(crew: Crew) -> None:
    """Let two heartbeats pass: each calls the nodes, and those that are lost."""
    client: Any = crew._client
    client.answered = threading.Semaphore(0)
    with crew.heartbeats():
        for _ in range(4):
            client.answered.acquire()


def lose(crew: Crew) -> None:
    with pytest.raises(TrialError, match="no answer of b"):
        crew.run_together(lambda _: CALL, crew.nodes)


@pytest.mark.parametrize(
    ("status", "returned"),
    [
        (ended(143, EndReason.LEASE), ("b",)),
        (ended(143, EndReason.STOPPED), ("b",)),
        (ended(143, EndReason.TERMINATED), ()),
        (ended(1, EndReason.FINISHED), ()),
        (UNRESTORED, ()),
        (NodeStatus(running=False, ending=None, line="killed"), ()),
        (NodeStatus(running=True, ending=None, line=""), ()),
        (LATE, ()),
    ],
)
def test_a_lost_node_returns_once_its_server_was_stopped_and_all_is_restored(
    status: NodeStatus | NoAnswer, returned: tuple[str, ...]
):
    lost = Node(silent_after=1)
    crew, _, client = make(a=Node(), b=lost)
    lose(crew)
    lost.status = status
    beat(crew)
    assert crew.take_returned() == returned
    assert crew.unrestored.keys() == ({"b"} if status == UNRESTORED else set())
    assert set(lost.contacts) == {Request.STOP}, "a server that runs there is stopped"
    assert set(client.nodes["a"].contacts) == {Request.CONTINUE}


def test_a_node_that_is_admitted_takes_part_and_one_that_is_excluded_does_not():
    lost = Node(silent_after=1)
    crew, losses, _ = make(a=Node(), b=lost)
    lose(crew)
    lost.status = ended(143, EndReason.LEASE)
    beat(crew)
    lost.silent_after = 1000
    assert crew.take_returned() == ("b",)
    crew.admit("b")
    assert (crew.nodes, crew.lost, crew.take_returned()) == (("a", "b"), (), ())
    assert crew.run_together(lambda _: CALL, crew.nodes).values.keys() == {"a", "b"}
    crew.exclude("b", "another kernel")
    assert losses["b"] == "another kernel"
    beat(crew)
    assert (crew.nodes, crew.take_returned()) == (("a",), ())


def test_heartbeats_do_not_stop_a_server_that_begins_on_a_node_that_has_returned():
    lost = Node(silent_after=1)
    crew, _, _ = make(a=Node(), b=lost)
    lose(crew)
    lost.status = ended(143, EndReason.LEASE)
    beat(crew)
    assert crew.take_returned() == ("b",)
    lost.contacts.clear()
    beat(crew)
    assert lost.contacts == [], "it is still lost, and its server is about to begin"
    assert crew.take_returned() == ()
    beat(crew)
    assert lost.contacts, "a server that did not begin leaves it lost"


def test_a_node_that_answers_calls_needs_fewer_heartbeats():
    busy, other = Node(), Node()
    busy.phases = [ServerPhase.BUSY] * 2
    crew, _, client = make_with_lease(LONG_LEASE_SECONDS, busy=busy, other=other)
    client.call_seconds = LONG_LEASE_SECONDS / 4
    with crew.heartbeats():
        crew.run(lambda _: CALL, ("busy",))
    assert len(busy.requests) == 3
    assert len(busy.contacts) < len(other.contacts)


def test_a_call_without_an_answer_is_sent_again():
    late = Node()
    late.phases = [None, None]
    crew, lost, _ = make_with_lease(LONG_LEASE_SECONDS, late=late)
    assert crew.run(lambda _: Call("end_block"), crew.nodes).keys() == {"late"}
    assert (len(late.requests), lost) == (3, {})


def test_a_node_that_answered_lately_needs_no_heartbeat(monkeypatch: pytest.MonkeyPatch):
    recent, other = Node(), Node()
    crew, _, _ = make(recent=recent, other=other)
    crew.run(lambda _: CALL, ("recent",))
    monkeypatch.setattr("iostudy_fleet.together.crew._FRESH_BEATS", 1e9)
    beat(crew)
    assert (recent.contacts, set(other.contacts)) == ([], {Request.CONTINUE})
    monkeypatch.setattr("iostudy_fleet.together.crew._FRESH_BEATS", 0.0)
    beat(crew)
    assert set(recent.contacts) == {Request.CONTINUE}


def test_an_error_of_a_heartbeat_is_raised_by_the_next_call():
    crew, _, client = make(a=Node())

    def fail(*_: object) -> dict[str, Any]:
        raise OSError("the scheduler is gone")

    client.call_all = fail  # type: ignore[method-assign]
    with crew.heartbeats():
        time.sleep(2 * LEASE_SECONDS)
        with pytest.raises(OSError, match="the scheduler is gone"):
            crew.run(lambda _: CALL, crew.nodes)
