"""All nodes of a fleet as one node: every trial runs on all of them at the same time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from operator import methodcaller
from typing import Any

from iostudy.errors import IostudyError, TargetError, UsageError
from iostudy.fleet.crew import Crew
from iostudy.fleet.joint_trial import join_trials
from iostudy.fleet.trial_messages import Call
from iostudy.ledger.studies import NODES
from iostudy.node.protocol import SwitchedRun, TrialResult
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest


class TogetherNode:
    """The crew as a `Node`; ``margin`` is that of the study, beyond which a node is a straggler."""

    def __init__(self, crew: Crew, margin: float) -> None:
        self.crew = crew
        self._margin = margin

    def open(self) -> None:
        """Open every node; TargetError if they do not share the directory of the target."""
        folders = self._run(methodcaller("open"))
        unseen = self._run(methodcaller("list_unseen", folders))
        if blind := {node: others for node, others in unseen.items() if others}:
            node, others = next(iter(blind.items()))
            raise TargetError(
                "a directory that all nodes share",
                found=f"{node} does not see the folder that {', '.join(others)} made there",
                where="target",
                remedy="mount the same file system at this path on every node",
            )

    def offered(self, setting: str, on: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the levels that all nodes offer, in the order of the first."""
        found = list(self._run(methodcaller("offered", setting, on)).values())
        return tuple(level for level in found[0] if all(level in own for own in found))

    def preflight(
        self, requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
    ) -> Mapping[str, IostudyError]:
        """Try every configuration on every node; the refusal of any node counts."""
        refused: dict[str, IostudyError] = {}
        for node, own in self._run(methodcaller("preflight", requests, configurations)).items():
            for label, error in own.items():
                error.found = f"{node}: {error.found}"
                refused.setdefault(label, error)
        return refused

    def circumstances(self) -> Mapping[str, Any]:
        """Return those of the first node, and those of every node by its name."""
        found = self._run(methodcaller("circumstances"))
        return {**next(iter(found.values())), NODES: found}

    @contextmanager
    def block(self, request: WorkloadRequest, seed: int) -> Iterator[_TogetherBlock]:
        """Prepare a block on every node; each has data of its own.

        After an interrupt no call ends the block, because the nodes would complete their trial
        first. The request to stop ends both.
        """
        try:
            self.crew.run(
                lambda node: methodcaller("begin_block", request, _seed_of_node(seed, node))
            )
            yield _TogetherBlock(self.crew, self._margin)
        except IostudyError:
            self._end_block()
            raise
        self._end_block()

    def _end_block(self) -> None:
        if self.crew.nodes:
            self._run(methodcaller("end_block"))

    def _run(self, call: Call) -> dict[str, Any]:
        return self.crew.run(lambda _: call)


@dataclass(frozen=True)
class _TogetherBlock:
    crew: Crew
    margin: float

    def trial(self, configuration: Configuration) -> TrialResult:
        """Run it on all nodes from one instant on; TrialError if a node is lost."""
        call: Callable[[Any], Any] = methodcaller("trial", configuration)
        found = self.crew.run_together(lambda _: call)
        return join_trials(found.values, found.offsets, self.margin)

    def switched_run(
        self, configurations: Sequence[Configuration]
    ) -> AbstractContextManager[SwitchedRun]:
        """Refused: windows of several hosts have no common clock that is exact enough."""
        raise UsageError(
            "whole trials",
            found=f"{len(configurations)} configurations to switch in one run",
            where="decide",
            remedy="leave out mode: nodes that run together compare whole trials",
        )


def _seed_of_node(seed: int, node: str) -> int:
    """A seed of the node's own data, so that no storage can keep them once for all nodes."""
    digest = hashlib.sha256(f"{seed} {node}".encode()).digest()
    return int.from_bytes(digest[:8], "little")
