"""State of a node in a fleet run, after each answer and each silence (pure)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from iostudy.errors import NOT_RESTORED
from iostudy_fleet.supervision.lease import Lease
from iostudy_fleet.supervision.node_study import NodeStatus
from iostudy_fleet.supervision.work_folder import Ending


class Phase(StrEnum):
    """What a node does, or how it ended.

    FETCHED: its complete results are on the controller, and its folder is still there.
    """

    RUNNING = "running"
    FETCHING = "fetching"
    FETCHED = "fetched"
    COMPLETE = "complete"
    FAILED = "failed"
    LOST = "lost"

    @property
    def is_active(self) -> bool:
        """Whether the controller waits for the node."""
        return self in (Phase.RUNNING, Phase.FETCHING, Phase.FETCHED)


@dataclass(frozen=True)
class NodeState:
    """The phase of a node, what there is to say about it, and its lease."""

    phase: Phase
    lease: Lease
    detail: str = ""
    ending: Ending | None = None

    def with_answer(self, status: NodeStatus, now: float) -> NodeState:
        """The state after an answer; one that was lost is back."""
        answered = replace(self, lease=self.lease.renew(now), detail=status.line)
        if status.running:
            return replace(answered, phase=Phase.RUNNING, ending=None)
        return replace(answered, phase=Phase.FETCHING, ending=status.ending)

    def with_silence(self, reason: str, now: float) -> NodeState:
        """The state after a heartbeat without an answer."""
        if self.phase is not Phase.RUNNING or not self.lease.has_expired(now):
            return self
        detail = f"no answer for {self.lease.seconds:g} s ({reason})"
        return replace(self, phase=Phase.LOST, detail=detail)

    def with_results(self, damage: str = "") -> NodeState:
        """The state after the results are here; ``damage`` says why their ledger cannot be used."""
        if self._is_complete and not damage:
            return replace(self, phase=Phase.FETCHED, detail="")
        detail = damage if self._is_complete else _explain(self.ending, self.detail)
        return replace(self, phase=Phase.FAILED, detail=detail)

    def with_folder_removed(self, problem: str) -> NodeState:
        """The state after the removal of the node's folder; ``problem`` says why it remains."""
        detail = explain_remaining_folder(problem) if problem else ""
        return replace(self, phase=Phase.COMPLETE, detail=detail)

    def with_stop(self, status: NodeStatus) -> NodeState:
        """The state after the request to stop; `--resume` continues what has stopped in order."""
        if status.running:
            return replace(self, phase=Phase.LOST, detail="it did not stop in time")
        if not status.is_unrestored:
            return self
        detail = _explain(status.ending, status.line)
        return replace(self, phase=Phase.FAILED, detail=detail, ending=status.ending)

    def without_stop(self, reason: str) -> NodeState:
        """The state after no answer to the request to stop."""
        rest = f"it stops {self.lease.seconds:g} s after its last heartbeat"
        return replace(self, phase=Phase.LOST, detail=f"no answer to the stop ({reason}); {rest}")

    def without_results(self, reason: str) -> NodeState:
        """The state after the results could not be fetched; they remain on the node."""
        return replace(self, phase=Phase.LOST, detail=f"its results could not be fetched: {reason}")

    @property
    def may_rejoin(self) -> bool:
        """Whether the study was stopped before its end, and may continue."""
        ending = self.ending
        return ending is not None and ending.may_begin_again and not self._is_complete

    @property
    def _is_complete(self) -> bool:
        """Whether `iostudy run` succeeded. Python also ends with 1, if a module has an error."""
        return self.ending is not None and self.ending.exit_code == 0

    @property
    def is_unrestored(self) -> bool:
        """Whether the study ended and could not restore all settings."""
        return self.ending is not None and self.ending.exit_code == NOT_RESTORED


def explain_remaining_folder(problem: str) -> str:
    """Say that the folder of a complete node is still there, and why."""
    return f"its folder remains there: {problem}"


def _explain(ending: Ending | None, line: str) -> str:
    if ending is None:
        return f"its supervisor was killed; the last line of its log: {line}"
    return f"`iostudy run` ended with {ending.exit_code}: {line}"
