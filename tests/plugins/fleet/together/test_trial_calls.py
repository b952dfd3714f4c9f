"""Calls of the controller on a node: the lease, and servers that are not there or hang."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy_fleet.supervision import node_study
from iostudy_fleet.supervision.node_study import NodeStatus, Request
from iostudy_fleet.supervision.work_folder import WorkFolder
from iostudy_fleet.together.trial_calls import carry
from iostudy_fleet.together.trial_messages import Call, ServerPhase, TrialRequest
from iostudy_fleet.together.trial_socket import listen
from tests.plugins.fleet.together.test_trial_server import Served

CALLS = 5
"""As many as a controller sends within a lease, and more."""
SOON = 0.05
REQUEST = TrialRequest(number=1, call=Call("count"), release=None, seconds=SOON)


@pytest.fixture
def contacts(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """The contacts with a supervisor that runs."""
    contacts: list[Request] = []

    def contact(_folder: WorkFolder, request: Request) -> NodeStatus:
        contacts.append(request)
        return NodeStatus(running=True, ending=None, line="")

    monkeypatch.setattr(node_study, "contact", contact)
    return contacts


def test_a_call_renews_the_lease_before_and_after_its_wait(contacts: list[Request], tmp_path: Path):
    served = Served(WorkFolder(tmp_path))
    try:
        while carry(served.folder, REQUEST).phase is ServerPhase.STARTING:
            contacts.clear()
        assert contacts[-2:] == [Request.CONTINUE, Request.CONTINUE]
    finally:
        served.ask(1000, None, seconds=0)
        served.thread.join()


@pytest.mark.usefixtures("contacts")
def test_a_server_that_hangs_gives_no_answer_and_holds_no_call(tmp_path: Path):
    folder = WorkFolder(tmp_path)
    with listen(folder):
        for _ in range(CALLS):
            with pytest.raises(TimeoutError, match="does not answer"):
                carry(folder, REQUEST)


@pytest.mark.usefixtures("contacts")
def test_a_server_that_does_not_listen_yet_is_starting(tmp_path: Path):
    assert carry(WorkFolder(tmp_path), REQUEST).phase is ServerPhase.STARTING
