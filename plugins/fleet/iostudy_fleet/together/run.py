"""Fleet run with each trial on all nodes at the same time, and one ledger on the controller."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from iostudy.errors import UsageError
from iostudy_fleet.deployment.client import FleetClient, NoAnswer
from iostudy_fleet.record import FleetRecord, NodeRecord
from iostudy_fleet.supervision import node_study
from iostudy_fleet.supervision.lease import BEATS
from iostudy_fleet.supervision.node_state import Phase, explain_remaining_folder
from iostudy_fleet.supervision.node_study import NodeStatus, Request
from iostudy_fleet.supervision.stopping import is_running, stop_all
from iostudy_fleet.supervision.work_folder import StudyOrder, WorkFolder
from iostudy_fleet.together.crew import Crew
from iostudy_fleet.together.node import TogetherNode

_BEATS_TO_BEGIN = 2


@dataclass
class TogetherFleet:
    """The servers of trials on all nodes, and the record of their states.

    ``on_lost`` gets a node that is lost, and why; ``on_returned`` one that is there again; ``say``
    a line about a long wait.
    ``require_same`` raises an error if two circumstances of a node cannot be compared.
    """

    client: FleetClient
    order: StudyOrder
    folders: Mapping[str, WorkFolder]
    out: Path
    record: FleetRecord
    on_lost: Callable[[str, str], None]
    on_returned: Callable[[str], None]
    say: Callable[[str], None]
    require_same: Callable[[Mapping[str, Any], Mapping[str, Any]], None]

    @contextmanager
    def open(self, margin: float) -> Iterator[TogetherNode]:
        """Start the servers and open the nodes; at the end they restore all, and their folders go.

        RestoreError if a node could not restore a setting. After any error the nodes get a request
        to stop.
        """
        self._update(dict.fromkeys(self.folders, (Phase.RUNNING, "")))
        crew = Crew(self.client, self.folders, self.order.lease_seconds, self._note_lost)
        try:
            self._begin_all()
            with crew.heartbeats():
                node = TogetherNode(crew, margin, self)
                node.open()
                yield node
                crew.end()
        finally:
            self._conclude(self._stop(crew.nodes), crew.unrestored)

    def begin(self, node: str, calls: int) -> str:
        """Start a server on a node that has returned; return why not, or an empty text."""
        order = self.order.model_copy(update={"calls": calls})
        reason = self._start((node,), order)[node]
        if not reason:
            self._update({node: (Phase.RUNNING, "")})
            self.on_returned(node)
        return reason

    def _start(self, nodes: Iterable[str], order: StudyOrder) -> dict[str, str]:
        """Start servers; return why a node has none, or an empty text."""
        calls = {
            node: partial(node_study.begin, self.folders[node], order, resumed=False)
            for node in nodes
        }
        answers = self.client.call_all(calls, _BEATS_TO_BEGIN * self._beat_seconds)
        return {
            node: answer.reason if isinstance(answer, NoAnswer) else answer
            for node, answer in answers.items()
        }

    def _begin_all(self) -> None:
        """Start a server of trials on each node; one that a killed controller left ends before."""
        left = self._stop(tuple(self.folders))
        for node, refusal in self._start(self.folders, self.order).items():
            old = "that of an earlier run does not stop" if is_running(left[node]) else ""
            if reason := old or refusal:
                raise UsageError(
                    "a server of trials on every node",
                    found=reason,
                    where=node,
                    remedy="correct it, or leave the node out",
                )

    def _stop(self, nodes: tuple[str, ...]) -> dict[str, NodeStatus | NoAnswer]:
        """Stop the servers of these nodes, for the time of a lease at most."""
        return stop_all(self._contact, nodes, self.order.lease_seconds, self.say)

    def _contact(
        self, nodes: Collection[str], request: Request
    ) -> dict[str, NodeStatus | NoAnswer]:
        calls = {node: partial(node_study.contact, self.folders[node], request) for node in nodes}
        return self.client.call_all(calls, self._beat_seconds)

    def _conclude(
        self, answers: Mapping[str, NodeStatus | NoAnswer], unrestored: Mapping[str, str]
    ) -> None:
        """Record how the servers ended; remove the folders of those that have restored all.

        ``unrestored`` are lost nodes that have not; RestoreError names them too.
        """
        for node, line in unrestored.items():
            self._update({node: (Phase.FAILED, line)}, unrestored=True)
        for node, answer in answers.items():
            phase, detail = _explain(answer)
            is_unrestored = isinstance(answer, NodeStatus) and answer.is_unrestored
            self._update({node: (phase, detail)}, unrestored=is_unrestored)
            if phase is Phase.COMPLETE:
                self._remove(node)
            else:
                self.on_lost(node, detail)
        self.record.require_restored()

    def _remove(self, node: str) -> None:
        """Remove the folder of a node that has restored all; record why one remains."""
        remove = {node: partial(node_study.remove, self.folders[node])}
        answer = self.client.call_all(remove, self.order.lease_seconds)[node]
        if isinstance(answer, NoAnswer):
            detail = explain_remaining_folder(answer.reason)
            self._update({node: (Phase.COMPLETE, detail)})
            self.say(f"{node} is complete: {detail}")

    def _note_lost(self, node: str, reason: str) -> None:
        self._update({node: (Phase.LOST, reason)})
        self.on_lost(node, reason)

    def _update(self, states: Mapping[str, tuple[Phase, str]], *, unrestored: bool = False) -> None:
        nodes = {
            node: NodeRecord(
                phase=phase,
                detail=detail,
                folder=str(self.folders[node].path),
                unrestored=unrestored,
            )
            for node, (phase, detail) in states.items()
        }
        self.record = self.record.model_copy(update={"nodes": {**self.record.nodes, **nodes}})
        self.record.write(self.out)

    @property
    def _beat_seconds(self) -> float:
        return self.order.lease_seconds / BEATS


def _explain(answer: NodeStatus | NoAnswer) -> tuple[Phase, str]:
    if isinstance(answer, NoAnswer):
        return Phase.LOST, f"it did not say how it ended ({answer.reason})"
    if answer.running:
        return Phase.LOST, "it still runs"
    if answer.ending is None:
        return Phase.FAILED, f"its supervisor was killed; the last line of its log: {answer.line}"
    if answer.ending.is_orderly:
        return Phase.COMPLETE, ""
    return Phase.FAILED, f"its server ended with {answer.ending.exit_code}: {answer.line}"
