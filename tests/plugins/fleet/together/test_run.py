"""How a fleet that runs together ends, with nodes that are answers only."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from iostudy.errors import UsageError
from iostudy_fleet.deployment.client import NoAnswer
from iostudy_fleet.design import Design
from iostudy_fleet.record import prepare_record, read_record
from iostudy_fleet.supervision.node_state import Phase
from iostudy_fleet.supervision.node_study import NodeStatus
from iostudy_fleet.supervision.work_folder import Ending, EndReason, StudyOrder, WorkFolder
from iostudy_fleet.together.run import TogetherFleet

REFUSAL = "no space"
STOPPED = NodeStatus(
    running=False, ending=Ending(exit_code=0, reason=EndReason.STOPPED), line="last"
)


class Client:
    """Nodes that start no server of trials, and have stopped in order."""

    def __init__(self, removals: Mapping[str, NoAnswer | None]) -> None:
        self.answers: dict[str, Any] = {"begin": REFUSAL, "contact": STOPPED}
        self.removals = removals

    def call_all(self, calls: Mapping[str, partial[Any]], _seconds: float) -> dict[str, Any]:
        return {
            node: self.removals[node]
            if call.func.__name__ == "remove"
            else self.answers[call.func.__name__]
            for node, call in calls.items()
        }


def test_a_folder_that_remains_on_a_node_is_recorded_and_said(tmp_path: Path):
    removals = {"n1": NoAnswer("something is mounted there"), "n2": None}
    said: list[str] = []
    fleet = TogetherFleet(
        client=Client(removals),
        order=StudyOrder(name="s", text="", options=(), lease_seconds=60.0, controller="c"),
        folders={node: WorkFolder(Path(f"/nowhere/{node}")) for node in removals},
        out=tmp_path,
        record=prepare_record(tmp_path, "s", "text", Design.TOGETHER, resume=False),
        on_lost=lambda _node, _reason: None,
        on_returned=lambda _node: None,
        say=said.append,
        require_same=lambda _before, _now: None,
    )
    with pytest.raises(UsageError, match=REFUSAL), fleet.open(0.03):
        pass
    record = read_record(tmp_path)
    assert record is not None
    assert {state.phase for state in record.nodes.values()} == {Phase.COMPLETE}
    assert record.nodes["n1"].detail == "its folder remains there: something is mounted there"
    assert record.nodes["n2"].detail == ""
    assert said == [f"n1 is complete: {record.nodes['n1'].detail}"]
