"""All nodes of a fleet as one node: every trial runs on all of them at the same time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol, get_type_hints

from pydantic import TypeAdapter, ValidationError

from iostudy.errors import (
    IostudyError,
    NotReadyError,
    RestoreError,
    TargetError,
    TrialError,
    UsageError,
)
from iostudy.ledger.studies import NODES
from iostudy.node.protocol import SwitchedRun, TrialResult
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy_fleet.together.crew import Crew
from iostudy_fleet.together.joint_trial import join_trials
from iostudy_fleet.together.node_draw import draw_nodes
from iostudy_fleet.together.served_node import ServedNode
from iostudy_fleet.together.trial_messages import Call

_LATE_NOTE = "a node was not ready at the start of some trials, which all nodes ran again"


class Restart(Protocol):
    """What a node needs to take part again."""

    def begin(self, node: str, calls: int) -> str:
        """Start a server of trials after so many calls; return why not, or an empty text."""

    def require_same(self, began: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """IostudyError if the circumstances of a node are not those in which it began."""


class TogetherNode:
    """The crew as a `Node`; ``margin`` is that of the study, beyond which a node is a straggler."""

    def __init__(self, crew: Crew, margin: float, restart: Restart) -> None:
        self.crew = crew
        self._margin = margin
        self._restart = restart
        self._folders: dict[str, str] = {}
        self._circumstances: dict[str, Mapping[str, Any]] = {}

    def open(self) -> None:
        """Open every node; TargetError if they do not share the directory of the target."""
        self._open(self.crew.nodes)

    def _open(self, nodes: Sequence[str]) -> None:
        call = Call("open")
        self._folders.update(_read_values(self.crew, call, self.crew.run(lambda _: call, nodes)))
        present = {node: self._folders[node] for node in self.crew.nodes}
        unseen = self._run(Call("list_unseen", (present,)))
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
        offers = list(self._run(Call("offered", (setting, on))).values())
        return tuple(level for level in offers[0] if all(level in levels for levels in offers))

    def preflight(
        self, requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
    ) -> Mapping[str, IostudyError]:
        """Try every configuration on every node; the refusal of any node counts."""
        refused: dict[str, IostudyError] = {}
        labels = [request.label for request in requests]
        for node, errors in self._run(Call("preflight", (labels, configurations))).items():
            for label, error in errors.items():
                refused.setdefault(label, error.on(node))
        return refused

    def circumstances(self) -> Mapping[str, Any]:
        """Return those of the first node, and those of every node by its name."""
        circumstances = self._circumstances = self._run(Call("circumstances"))
        return {**next(iter(circumstances.values())), NODES: circumstances}

    @contextmanager
    def block(
        self, request: WorkloadRequest, seed: int, round_seed: int
    ) -> Iterator[_TogetherBlock]:
        """Prepare a block on the nodes of its load; each has data of its own.

        Nodes that were lost and answer again are included before. NotReadyError without as many
        nodes; TrialError if one is lost while they begin. After an interrupt no call ends the
        block, because the nodes would complete their trial first. The request to stop ends both.
        """
        for node in self.crew.take_returned():
            self._readmit(node)
        nodes, notes = self._draw(request, round_seed), self._note_lost(request)
        try:
            self.crew.run(
                lambda node: Call("begin_block", (request.label, _seed_of_node(seed, node))), nodes
            )
            self.crew.require(nodes)
            yield _TogetherBlock(self.crew, nodes, self._margin, notes)
        except IostudyError:
            self._end_block(nodes)
            raise
        self._end_block(nodes)

    def _end_block(self, nodes: Sequence[str]) -> None:
        if left := [node for node in nodes if node in self.crew.nodes]:
            self.crew.run(lambda _: Call("end_block"), left)

    def _readmit(self, node: str) -> None:
        """Open a node that has returned; exclude it if it is not as it was."""
        reason = self._restart.begin(node, self.crew.calls)
        if not reason:
            self.crew.admit(node)
            try:
                self._open((node,))
                self._require_same(node)
            except RestoreError:
                raise
            except IostudyError as error:
                reason = error.found
        if reason:
            self.crew.exclude(node, f"it cannot return: {reason}")

    def _require_same(self, node: str) -> None:
        """IostudyError if the node is not as it was when the study began."""
        current = self._run(Call("circumstances"))
        began = self._circumstances.get(node)
        if began is None:
            raise TargetError(
                "a node with the circumstances of its start",
                found="it was lost before the study began",
                where=node,
                remedy="--resume begins again with all nodes",
            )
        if node in current:
            self._restart.require_same(began, current[node])

    def _draw(self, request: WorkloadRequest, round_seed: int) -> tuple[str, ...]:
        present, needed = self.crew.nodes, request.node_count or 1
        if len(present) < needed:
            raise NotReadyError(
                "1 node at least" if needed == 1 else f"{needed} nodes at least",
                found=f"{len(present)} are left",
                where="the fleet",
                remedy="--resume begins again with all nodes",
            )
        return draw_nodes(present, request.node_count, round_seed)

    def _note_lost(self, request: WorkloadRequest) -> tuple[str, ...]:
        """Which nodes a draw lacks; without a draw the nodes of the trial say it."""
        if request.node_count is None or not self.crew.lost:
            return ()
        lost = ", ".join(self.crew.lost)
        return (f"some trials drew their nodes without {lost}, lost before the block",)

    def _run(self, call: Call) -> dict[str, Any]:
        results = self.crew.run(lambda _: call, self.crew.nodes)
        if not results:
            raise TrialError(
                "an answer of one node at least",
                found="every node is lost",
                where="the fleet",
                remedy="the lines above say why; --resume begins again with all nodes",
            )
        return _read_values(self.crew, call, results)


@dataclass(frozen=True)
class _TogetherBlock:
    crew: Crew
    nodes: Sequence[str]
    margin: float
    notes: tuple[str, ...]

    def trial(self, configuration: Configuration) -> TrialResult:
        """Run it on all nodes of the block from one instant on; TrialError if one is lost."""
        call = Call("trial", (configuration,))
        turn = self.crew.run_together(lambda _: call, self.nodes)
        values = _read_values(self.crew, call, turn.values)
        joined = join_trials(values, turn.offsets, self.margin)
        late = (_LATE_NOTE,) if turn.late else ()
        return replace(joined, notes=(*joined.notes, *self.notes, *late))

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


def _read_values(crew: Crew, call: Call, found: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the nodes as the called method returns them.

    A node with another value takes part no more; TrialError names it.
    """
    values, faults = dict[str, Any](), dict[str, str]()
    for node, value in found.items():
        try:
            values[node] = read_value(call.method, value)
        except ValidationError as error:
            faults[node] = f"its answer to {call.method} is malformed: {error.errors()[0]['msg']}"
    for node, fault in faults.items():
        crew.exclude(node, fault)
    if faults:
        raise TrialError(
            "answers of all nodes",
            found="; ".join(f"{node}: {fault}" for node, fault in faults.items()),
            where="the fleet",
            remedy="look at these nodes; the block is repeated with the others",
        )
    return values


def read_value(method: str, value: object) -> Any:
    """The value of a method of `ServedNode` from its data; ValidationError if it is another."""
    return _value_adapter(method).validate_python(value)


@lru_cache
def _value_adapter(method: str) -> TypeAdapter[Any]:
    hints = get_type_hints(getattr(ServedNode, method), include_extras=True)
    return TypeAdapter(hints["return"])


def _seed_of_node(seed: int, node: str) -> int:
    """A seed of the node's own data, so that no storage can keep them once for all nodes."""
    digest = hashlib.sha256(f"{seed} {node}".encode()).digest()
    return int.from_bytes(digest[:8], "little")
