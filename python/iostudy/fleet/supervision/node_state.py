"""State of a node in a fleet run, after each answer and each silence (pure)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from iostudy.fleet.supervision.lease import Lease
from iostudy.fleet.supervision.node_study import NodeStatus
from iostudy.fleet.supervision.work_folder import Ending, EndReason

_COMPLETE = (0, 1)
"""Exit codes of `iostudy run` with a report; 1 is a verdict that a caller may request."""


class Phase(StrEnum):
    """What a node does, or how it ended."""

    RUNNING = "running"
    FETCHING = "fetching"
    COMPLETE = "complete"
    FAILED = "failed"
    LOST = "lost"

    @property
    def is_active(self) -> bool:
        """Whether the controller waits for the node."""
        return self in (Phase.RUNNING, Phase.FETCHING)


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

    def with_results(self) -> NodeState:
        """The state after the results are here."""
        if self.ending is not None and self.ending.exit_code in _COMPLETE:
            return replace(self, phase=Phase.COMPLETE, detail="")
        return replace(self, phase=Phase.FAILED, detail=_explain(self.ending, self.detail))

    def without_results(self, reason: str) -> NodeState:
        """The state after the results could not be fetched; they remain on the node."""
        return replace(self, phase=Phase.LOST, detail=f"its results could not be fetched: {reason}")

    @property
    def may_rejoin(self) -> bool:
        """Whether the node stopped by itself, for want of heartbeats."""
        return self.ending is not None and self.ending.reason is EndReason.LEASE


def _explain(ending: Ending | None, line: str) -> str:
    if ending is None:
        return f"its supervisor was killed; the last line of its log: {line}"
    return f"`iostudy run` ended with {ending.exit_code}: {line}"
