"""Nodes that carry out each call of the controller at the same time, without lost ones."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from iostudy.errors import IostudyError, RestoreError, TrialError
from iostudy_fleet.clock_offset import ClockOffset, Exchange, estimate_offset
from iostudy_fleet.deployment.client import NoAnswer
from iostudy_fleet.supervision import node_study
from iostudy_fleet.supervision.lease import BEATS, Lease
from iostudy_fleet.supervision.node_study import NodeStatus
from iostudy_fleet.supervision.work_folder import WorkFolder
from iostudy_fleet.together.lost_nodes import LostNodes
from iostudy_fleet.together.trial_calls import carry, read_clock
from iostudy_fleet.together.trial_messages import (
    Answer,
    Call,
    LateStartError,
    NotStartedError,
    Release,
    ServerPhase,
    TrialRequest,
)

T = TypeVar("T")
_EXCHANGES = 20
"""Most readings of a node's clock before and after a run; that with the shortest trip counts."""
_LEAD_SECONDS = 0.5
_LEAD_SECONDS_OF_A_NODE = 0.002
_LEAD_ROUND_TRIPS = 4
"""The instant of a start is so far ahead that every node gets it in time.

The controller needs 0.6 ms of CPU time to send it to a node.
"""
_LONGEST_LEAD_SECONDS = 30.0
_ANSWER_BEATS = 1.5
"""A call is given up after so many beats; the server answers within one."""
_FRESH_BEATS = 1.25
"""A node needs no heartbeat if a call has renewed its lease so lately."""
_START_SECONDS = 60.0
"""A server that does not listen for so long, or for a lease if that is longer, is lost."""
_RETRY_SECONDS = 0.5
"""Pause after a call without an answer: a connection that broke gives none at once."""
_NO_RELEASE: Mapping[str, Release] = {}


class Connection(Protocol):
    """What a crew needs of `FleetClient`."""

    def call_all(self, calls: Mapping[str, partial[T]], seconds: float) -> dict[str, T | NoAnswer]:
        """Run a function on each node; return the answers that come in time, by node."""

    def time_exchanges(
        self,
        nodes: Collection[str],
        read_clock: Callable[[], tuple[float, float]],
        most: int,
        seconds: float,
    ) -> dict[str, list[Exchange] | NoAnswer]:
        """Ask each node for its clock, so many times at most."""


@dataclass(frozen=True)
class Together:
    """Values of a call that started at one instant, with the offsets of clocks before and after.

    ``late`` is the number of starts before it at which a node was not ready in time.
    """

    values: Mapping[str, Any]
    offsets: Mapping[str, tuple[ClockOffset, ClockOffset]]
    late: int = 0


@dataclass(frozen=True)
class _Turn:
    number: int
    calls: Mapping[str, Call | None]


class Crew:
    """The nodes by name; ``on_lost`` gets a node that is lost, and why."""

    def __init__(
        self,
        client: Connection,
        folders: Mapping[str, WorkFolder],
        lease_seconds: float,
        on_lost: Callable[[str, str], None],
    ) -> None:
        self._client = client
        self._folders = folders
        lease = Lease(lease_seconds, time.monotonic())
        self._leases = dict.fromkeys(folders, lease)
        self._renewed_at = dict.fromkeys(folders, -math.inf)
        self._starting_since: dict[str, float] = {}
        self._beat_seconds = lease.beat_seconds
        self._on_lost = on_lost
        self._lead_seconds = _LEAD_SECONDS + _LEAD_SECONDS_OF_A_NODE * len(folders)
        self._number = 0
        self._lost_nodes = LostNodes()
        self._beating: Future[None] | None = None

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that are not lost."""
        return tuple(self._leases)

    @property
    def lost(self) -> tuple[str, ...]:
        """The nodes that are lost."""
        return tuple(node for node in self._folders if node not in self._leases)

    @property
    def unrestored(self) -> Mapping[str, str]:
        """The lost nodes that could not restore all, with the last line of their log."""
        return self._lost_nodes.unrestored

    def take_returned(self) -> tuple[str, ...]:
        """Return the lost nodes that answer again, without a server and with all restored.

        Until the next call, the heartbeats do not stop what begins there.
        """
        return self._lost_nodes.take_returned()

    @property
    def calls(self) -> int:
        """The number of the last call."""
        return self._number

    def require(self, nodes: Collection[str]) -> None:
        """TrialError if one of these nodes is lost."""
        if missing := [node for node in nodes if node not in self._leases]:
            raise _lost(f"no answer of {', '.join(missing)}")

    def admit(self, node: str) -> None:
        """Include a node that has returned, with a new server."""
        self._leases[node] = Lease(BEATS * self._beat_seconds, _now())

    def exclude(self, node: str, reason: str) -> None:
        """Lose a node for good, also one that is lost."""
        self._lost_nodes.exclude(node)
        self._leases.pop(node, None)
        self._on_lost(node, reason)

    @contextmanager
    def heartbeats(self) -> Iterator[None]:
        """Renew the leases while the controller does something else, as pauses or reports.

        An error of a heartbeat is raised by the next call.
        """
        ended = threading.Event()
        with ThreadPoolExecutor(1) as threads:
            self._beating = threads.submit(self._beat, ended)
            try:
                yield
            finally:
                ended.set()

    def run(self, call_of: Callable[[str], Call], nodes: Collection[str]) -> dict[str, Any]:
        """Carry out a call on these nodes; return the values of those that are not lost.

        The error of a node is raised when all have ended; RestoreError first.
        """
        turn = self._new_turn(call_of, nodes)
        return _require_values(self._advance(turn, _NO_RELEASE), None)

    def run_together(self, call_of: Callable[[str], Call], nodes: Collection[str]) -> Together:
        """Carry out a call that waits at the start line, on these nodes from one instant on.

        TrialError if one of them is lost: the others have ended too, with or without a run. After
        a late start all nodes carry it out again, with twice the time; LateStartError after the
        longest.
        """
        late = 0
        while True:
            try:
                turn = self._run_once(self._new_turn(call_of, nodes))
            except LateStartError:
                if self._lead_seconds >= _LONGEST_LEAD_SECONDS:
                    raise
                late += 1
                self._lead_seconds = min(2 * self._lead_seconds, _LONGEST_LEAD_SECONDS)
            else:
                return replace(turn, late=late)

    def _run_once(self, turn: _Turn) -> Together:
        ready = self._advance(turn, _NO_RELEASE)
        before = self._measure_offsets(turn) if _are_all_ready(turn, ready) else None
        ended = self._advance(turn, self._plan_start(turn, before or {}))
        clocks = turn.calls if before is None else before
        values = _require_values(ended, _explain_absence(turn, self.nodes, clocks))
        after = self._measure_offsets(turn)
        _require_values(ended, _explain_absence(turn, after))
        assert before is not None  # else a node had an error
        return Together(values, {node: (before[node], after[node]) for node in values})

    def end(self) -> None:
        """Let the servers end; return when none of them runs."""
        turn = _Turn(self._number + 1, dict.fromkeys(self.nodes))
        waiting = set(self.nodes)
        while waiting:
            answers = self._ask(turn, _NO_RELEASE, waiting)
            waiting -= {
                node
                for node, answer in answers.items()
                if not isinstance(answer, NoAnswer) and answer.phase is ServerPhase.ENDED
            }
            waiting -= {node for node in waiting if self._leases[node].has_expired(_now())}

    def _new_turn(self, call_of: Callable[[str], Call], nodes: Collection[str]) -> _Turn:
        if self._beating is not None and self._beating.done():
            self._beating.result()
        present = [node for node in nodes if node in self._leases]
        if not present:
            raise _lost("every node is lost")
        self._number += 1
        return _Turn(self._number, {node: call_of(node) for node in present})

    def _advance(self, turn: _Turn, release: Mapping[str, Release]) -> dict[str, Answer]:
        """Wait until every node of the turn is ready or done, or lost."""
        settled: dict[str, Answer] = {}
        self._leases = {node: lease.renew(_now()) for node, lease in self._leases.items()}
        while pending := [
            call for call in turn.calls if call in self._leases and call not in settled
        ]:
            for node, answer in self._ask(turn, release, pending).items():
                judged = self._judge(node, answer)
                if judged is not None and judged.is_settled:
                    settled[node] = judged
        return {node: answer for node, answer in settled.items() if node in self._leases}

    def _ask(
        self, turn: _Turn, release: Mapping[str, Release], nodes: Collection[str]
    ) -> dict[str, Answer | NoAnswer]:
        sent_at, wait = _now(), self._beat_seconds
        calls = {
            node: partial(
                carry,
                self._folders[node],
                TrialRequest(turn.number, turn.calls[node], release.get(node), wait),
            )
            for node in nodes
        }
        answers = self._client.call_all(calls, _ANSWER_BEATS * wait)
        self._note_renewals(answers, sent_at)
        if any(isinstance(answer, NoAnswer) for answer in answers.values()):
            time.sleep(_RETRY_SECONDS)
        return answers

    def _note_renewals(self, answers: Mapping[str, Answer | NoAnswer], sent_at: float) -> None:
        """Note when the nodes renewed their leases at the earliest: a busy one after its wait."""
        for node, answer in answers.items():
            if not isinstance(answer, NoAnswer):
                is_busy = answer.phase is ServerPhase.BUSY
                self._renewed_at[node] = sent_at + (self._beat_seconds if is_busy else 0.0)

    def _judge(self, node: str, answer: Answer | NoAnswer) -> Answer | None:
        """The answer, None without one. A silent node, or one without its server, is lost."""
        lease = self._leases[node]
        if isinstance(answer, NoAnswer):
            if lease.has_expired(_now()):
                self._lose(node, f"no answer for {lease.seconds:g} s ({answer.reason})")
            return None
        if answer.phase is ServerPhase.ENDED:
            self._lose(node, f"its server of trials has ended: {answer.line}")
            return None
        if answer.phase is not ServerPhase.STARTING:
            self._starting_since.pop(node, None)
        elif self._starting_seconds(node) > max(_START_SECONDS, lease.seconds):
            self._lose(node, "its server of trials does not listen")
            return None
        self._leases[node] = lease.renew(_now())
        return answer

    def _starting_seconds(self, node: str) -> float:
        """Seconds since the node first answered that its server does not listen."""
        return _now() - self._starting_since.setdefault(node, _now())

    def _lose(self, node: str, reason: str) -> None:
        del self._leases[node]
        self._starting_since.pop(node, None)
        self._on_lost(node, reason)

    def _plan_start(self, turn: _Turn, offsets: Mapping[str, ClockOffset]) -> dict[str, Release]:
        """The instant of the start on each node's clock; None without the offset of every node."""
        if offsets.keys() != turn.calls.keys():
            return {node: Release(None) for node in turn.calls}
        longest = max(2 * offset.error for offset in offsets.values())
        instant = _now() + self._lead_seconds + _LEAD_ROUND_TRIPS * longest
        return {node: Release(offset.to_other(instant)) for node, offset in offsets.items()}

    def _measure_offsets(self, turn: _Turn) -> dict[str, ClockOffset]:
        """The offset of each node's CLOCK_MONOTONIC; without nodes that do not answer."""
        nodes = [node for node in turn.calls if node in self._leases]
        timed = self._client.time_exchanges(nodes, read_clock, _EXCHANGES, self._beat_seconds)
        return {
            node: estimate_offset(exchanges)
            for node, exchanges in timed.items()
            if not isinstance(exchanges, NoAnswer)
        }

    def _beat(self, ended: threading.Event) -> None:
        next_at = _now() + self._beat_seconds
        while not ended.wait(max(0.0, next_at - _now())):
            next_at = max(next_at + self._beat_seconds, _now())
            fresh = _now() - _FRESH_BEATS * self._beat_seconds
            due = [node for node in self.nodes if self._renewed_at[node] < fresh]
            self._contact(due, request=node_study.Request.CONTINUE, seconds=self._beat_seconds)
            self._look_for_lost()

    def _look_for_lost(self) -> None:
        """Find the lost nodes that answer; a server that still runs there is to stop."""
        stop = partial(
            self._contact, request=node_study.Request.STOP, seconds=self._beat_seconds / 2
        )
        self._lost_nodes.look(lambda: self.lost, stop)

    def _contact(
        self, nodes: Collection[str], *, request: node_study.Request, seconds: float
    ) -> dict[str, NodeStatus | NoAnswer]:
        contact = node_study.contact
        calls = {node: partial(contact, self._folders[node], request) for node in nodes}
        return self._client.call_all(calls, seconds)


def _are_all_ready(turn: _Turn, answers: Mapping[str, Answer]) -> bool:
    phases = {answer.phase for answer in answers.values()}
    return phases == {ServerPhase.READY} and answers.keys() == turn.calls.keys()


def _explain_absence(turn: _Turn, *found: Collection[str]) -> TrialError | None:
    """The error of a turn if one of its nodes is missing in any of the collections."""
    missing = turn.calls.keys() - set.intersection(*map(set, found))
    return _lost(f"no answer of {', '.join(sorted(missing))}") if missing else None


def _require_values(answers: Mapping[str, Answer], absence: TrialError | None) -> dict[str, Any]:
    """The values of the nodes; the error that matters most is raised, with the name of its node."""
    outcomes = {
        node: status.outcome for node, status in answers.items() if status.outcome is not None
    }
    errors = [outcome.error.on(node) for node, outcome in outcomes.items() if outcome.error]
    errors += [absence] if absence is not None else []
    if errors:
        raise min(errors, key=_rank)
    return {node: outcome.value for node, outcome in outcomes.items()}


def _rank(error: IostudyError) -> int:
    """What is not restored comes first; a late start, and what follows from another error, last."""
    if isinstance(error, RestoreError):
        return -1
    return int(isinstance(error, LateStartError | NotStartedError))


def _lost(found: str) -> TrialError:
    return TrialError(
        "a run of all nodes",
        found=found,
        where="the fleet",
        remedy="the block is repeated with the others; --resume begins again with all nodes",
    )


def _now() -> float:
    return time.monotonic()
