"""Server of trials over its socket: calls, the start line, and what ends a wait."""

from __future__ import annotations

import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.errors import WorkloadError
from iostudy_fleet.supervision.work_folder import WorkFolder
from iostudy_fleet.together.trial_messages import (
    Answer,
    Call,
    LateStartError,
    NotStartedError,
    Outcome,
    Release,
    ServerPhase,
    TrialRequest,
)
from iostudy_fleet.together.trial_server import TrialServer
from iostudy_fleet.together.trial_socket import connect, receive_answer, send

HANG_GUARD_SECONDS = 60.0
SOON = 0.2


class Node:
    """What the server serves here: it counts its runs, which begin at the start line."""

    def __init__(self, server: TrialServer) -> None:
        self.server = server
        self.runs = 0

    def trial(self) -> float:
        wait = self.server.reach_start()
        wait()
        self.runs += 1
        return time.monotonic()

    def count(self) -> int:
        return self.runs

    def fail(self) -> None:
        raise WorkloadError("w", found="f", where="here", remedy="r")


class Served:
    """A server in a thread, and questions to it."""

    def __init__(self, folder: WorkFolder, calls: int = 0) -> None:
        self.folder = folder
        server = TrialServer(calls)
        node = Node(server)
        self.thread = threading.Thread(target=server.serve, args=(folder, node))
        self.thread.start()

    def ask(
        self,
        number: int,
        call: Call | None,
        release: Release | None = None,
        seconds: float = HANG_GUARD_SECONDS,
    ) -> Answer:
        while True:
            try:
                with connect(self.folder) as connection:
                    send(connection, TrialRequest(number, call, release, seconds))
                    return receive_answer(connection)
            except (FileNotFoundError, ConnectionRefusedError):
                assert self.thread.is_alive()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    # unix(7) allows 108 bytes of a path; that of a work folder may be longer.
    path = tmp_path / ("long" * 30)
    path.mkdir(0o700)
    served = Served(WorkFolder(path))
    yield served
    served.ask(1000, None, seconds=0)
    served.thread.join()


def test_only_the_owner_can_reach_the_socket(served: Served):
    served.ask(1, Call("count"))
    (socket,) = served.folder.path.iterdir()
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600


def test_a_call_is_carried_out_once_however_often_it_comes(served: Served):
    released = Release(time.monotonic() + 5 * SOON)
    for _ in range(3):
        answer = served.ask(1, Call("trial"), released)
        assert answer.phase is ServerPhase.DONE
    counted = served.ask(2, Call("count")).outcome
    assert counted is not None
    assert counted.value == 1
    late = served.ask(1, Call("trial"))  # a message of before
    assert late.outcome == counted


def test_a_run_begins_at_the_instant_and_not_before(served: Served):
    call = Call("trial")
    assert served.ask(1, call).phase is ServerPhase.READY
    assert served.ask(1, call).phase is ServerPhase.READY, "it waits for its release"
    instant = time.monotonic() + 5 * SOON
    outcome = served.ask(1, call, Release(instant)).outcome
    assert outcome is not None
    assert outcome.value >= instant


def test_a_run_that_is_called_off_is_no_run(served: Served):
    outcome = served.ask(1, Call("trial"), Release(None)).outcome
    assert outcome is not None
    assert outcome.error is not None
    assert isinstance(outcome.error.on("n"), NotStartedError)
    counted = served.ask(2, Call("count")).outcome
    assert counted is not None
    assert counted.value == 0


def test_an_instant_in_the_past_is_refused(served: Served):
    outcome = served.ask(1, Call("trial"), Release(time.monotonic() - 1)).outcome
    assert outcome is not None
    assert outcome.error is not None
    assert isinstance(outcome.error.on("n"), LateStartError)
    assert "after it" in outcome.error.found


def test_an_error_is_an_answer_and_the_server_continues(served: Served):
    outcome = served.ask(1, Call("fail")).outcome
    assert outcome is not None
    assert outcome.error is not None
    assert isinstance(outcome.error.on("n"), WorkloadError)
    assert served.ask(2, Call("count")).phase is ServerPhase.DONE


def test_a_long_call_answers_that_it_is_busy(served: Served):
    released = Release(time.monotonic() + 4 * SOON)
    assert served.ask(1, Call("trial"), released, SOON).phase is ServerPhase.BUSY
    assert served.ask(1, Call("trial"), released).phase is ServerPhase.DONE


def test_calls_of_an_earlier_server_are_not_carried_out(tmp_path: Path):
    served = Served(WorkFolder(tmp_path), calls=7)
    try:
        released = Release(time.monotonic() + SOON)
        assert served.ask(7, Call("trial"), released).outcome == Outcome()
        counted = served.ask(8, Call("count")).outcome
        assert counted is not None
        assert counted.value == 0
    finally:
        served.ask(1000, None, seconds=0)
        served.thread.join()
