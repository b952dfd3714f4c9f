"""Stop of several nodes, with those that are late or silent."""

from collections.abc import Collection

import pytest

from iostudy_fleet.deployment.client import NoAnswer
from iostudy_fleet.supervision.node_study import NodeStatus, Request
from iostudy_fleet.supervision.stopping import stop_all
from iostudy_fleet.supervision.work_folder import Ending, EndReason

RUNNING = NodeStatus(running=True, ending=None, line="")
ENDED = NodeStatus(
    running=False, ending=Ending(exit_code=143, reason=EndReason.STOPPED), line="last"
)
LATE = NoAnswer("late")


class Nodes:
    """Answers of each node in their order; the last one is repeated."""

    def __init__(self, **answers: list[NodeStatus | NoAnswer]) -> None:
        self.answers = answers
        self.requests: list[tuple[Request, tuple[str, ...]]] = []

    def contact(self, nodes: Collection[str], request: Request) -> dict[str, NodeStatus | NoAnswer]:
        self.requests.append((request, tuple(nodes)))
        own = {node: self.answers[node] for node in nodes}
        return {
            node: answers.pop(0) if len(answers) > 1 else answers[0]
            for node, answers in own.items()
        }


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iostudy_fleet.supervision.stopping._POLL_SECONDS", 0.0)


def test_nodes_get_one_request_to_stop_and_the_last_status_counts():
    nodes = Nodes(quick=[ENDED], late=[RUNNING, LATE, RUNNING, ENDED], mute=[LATE])
    said: list[str] = []
    found = stop_all(nodes.contact, ("quick", "late", "mute"), 60.0, said.append)
    assert found == {"quick": ENDED, "late": ENDED, "mute": LATE}
    assert nodes.requests == [
        (Request.STOP, ("quick", "late", "mute")),
        *[(Request.CONTINUE, ("late",))] * 3,
    ]
    assert said == []


def test_a_long_wait_is_said_once_and_ends(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("iostudy_fleet.supervision.stopping._LONG_SECONDS", 0.0)
    said: list[str] = []
    found = stop_all(Nodes(slow=[RUNNING]).contact, ("slow",), 0.2, said.append)
    assert found == {"slow": RUNNING}
    assert said == ["waiting for slow to restore settings, 0.2 s at most"]
