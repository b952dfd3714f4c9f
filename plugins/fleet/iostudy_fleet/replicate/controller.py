"""Controller of a fleet run: heartbeats to all nodes, a watchdog for each, and their results."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from iostudy.errors import IostudyError
from iostudy_fleet.deployment.call_messages import describe_error
from iostudy_fleet.deployment.client import FleetClient, NoAnswer
from iostudy_fleet.replicate.transfer import fetch_folder, find_damage, has_ledger
from iostudy_fleet.supervision import node_study
from iostudy_fleet.supervision.lease import BEATS, Lease
from iostudy_fleet.supervision.node_state import NodeState, Phase
from iostudy_fleet.supervision.node_study import NodeStatus, Request
from iostudy_fleet.supervision.stopping import stop_all
from iostudy_fleet.supervision.work_folder import StudyOrder, WorkFolder

_TRANSFERS = 4
"""Simultaneous transfers of results from nodes."""
_TRANSFER_SECONDS = 120.0
"""Least time for an answer with results: a node computes the checksums of all files."""
_BEATS_TO_BEGIN = 2
"""Time for a node to start the study; other leases last twice as long."""

States = Mapping[str, NodeState]


@dataclass(frozen=True)
class FleetStudy:
    """A study with the work folder of each node, and the controller's output folder."""

    order: StudyOrder
    folders: Mapping[str, WorkFolder]
    out: Path


class Controller:
    """Runs a study on all nodes, and continues without those that are lost.

    ``on_change`` gets the states of all nodes and the name of the one that has changed its phase;
    ``say`` a line about a long wait.
    """

    def __init__(
        self,
        client: FleetClient,
        study: FleetStudy,
        on_change: Callable[[States, str], None],
        say: Callable[[str], None],
    ) -> None:
        self._client = client
        self._study = study
        self._on_change = on_change
        self._say = say
        self._is_interrupted = threading.Event()
        self._states: dict[str, NodeState] = {}
        self._transfers: dict[str, Future[NodeState]] = {}
        self._rejoining: list[str] = []

    def run(self, nodes: Iterable[str], fetched: Collection[str] = ()) -> States:
        """Run the study on these nodes until each has ended or is lost; return their states.

        Those with ``fetched`` results have completed it; only their folders are left to remove. If
        this is interrupted, the nodes get a request to stop.
        """
        lease = Lease(self._study.order.lease_seconds, time.monotonic())
        running, done = NodeState(Phase.RUNNING, lease), NodeState(Phase.FETCHED, lease)
        self._states = {node: done if node in fetched else running for node in nodes}
        with ThreadPoolExecutor(_TRANSFERS) as threads:
            try:
                self._begin(self._list(Phase.RUNNING), _BEATS_TO_BEGIN * lease.beat_seconds)
                while self._is_active():
                    self._beat(lease.beat_seconds, threads)
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                self._stop()
                raise
        return dict(self._states)

    def _begin(self, nodes: Iterable[str], seconds: float) -> None:
        """Start or resume the study on nodes; one that cannot has failed.

        One that gives no answer is left to its lease.
        """
        folders, order = self._study.folders, self._study.order
        calls = {
            node: partial(
                node_study.begin,
                folders[node],
                order,
                resumed=has_ledger(self._study.out / node),
            )
            for node in nodes
        }
        for node, answer in self._client.call_all(calls, seconds).items():
            if isinstance(answer, str) and answer:
                state = replace(self._states[node], phase=Phase.FAILED, detail=answer)
                self._set(node, state)

    def _beat(self, seconds: float, threads: ThreadPoolExecutor) -> None:
        """Send a heartbeat to every node that has not ended; transfer results until the next."""
        end = time.monotonic() + seconds
        self._begin(self._rejoining, seconds)
        self._rejoining.clear()
        nodes = self._list(Phase.RUNNING, Phase.LOST)
        answers = self._contact(nodes, Request.CONTINUE, seconds)
        for node, answer in answers.items():
            self._update(node, answer)
        self._transfer(threads)
        while (left := end - time.monotonic()) > 0 and self._is_active():
            if self._transfers:
                wait(self._transfers.values(), left, FIRST_COMPLETED)
                self._transfer(threads)
            else:
                time.sleep(left)

    def _is_active(self) -> bool:
        return any(state.phase.is_active for state in self._states.values())

    def _list(self, *phases: Phase) -> list[str]:
        return [node for node, state in self._states.items() if state.phase in phases]

    def _contact(
        self, nodes: Collection[str], request: Request, seconds: float
    ) -> dict[str, NodeStatus | NoAnswer]:
        """Send a request to nodes; return the answers in time."""
        folders = self._study.folders
        calls = {node: partial(node_study.contact, folders[node], request) for node in nodes}
        return self._client.call_all(calls, seconds)

    def _update(self, node: str, answer: NodeStatus | NoAnswer) -> None:
        state, now = self._states[node], time.monotonic()
        if isinstance(answer, NoAnswer):
            self._set(node, state.with_silence(answer.reason, now))
            return
        answered = state.with_answer(answer, now)
        if answered.may_rejoin:
            answered = replace(answered, phase=Phase.RUNNING, ending=None)
            self._rejoining.append(node)
        self._set(node, answered)

    def _transfer(self, threads: ThreadPoolExecutor) -> None:
        """Note the transfers and removals that are done, and begin the next ones.

        That results are here is recorded before their folder on the node is removed.
        """
        for node in [node for node, transfer in self._transfers.items() if transfer.done()]:
            self._set(node, self._transfers.pop(node).result())
        for node, state in self._states.items():
            work = {Phase.FETCHING: self._fetch, Phase.FETCHED: self._remove}.get(state.phase)
            if work is not None and node not in self._transfers:
                self._transfers[node] = threads.submit(work, node)

    def _fetch(self, node: str) -> NodeState:
        """Fetch the output folder."""
        state, folder = self._states[node], self._study.folders[node]
        try:
            files = self._caller(node)(partial(node_study.list_results, folder))
            fetch_folder(files, partial(self._read, node), self._study.out / node)
        except (IostudyError, OSError) as error:
            return state.without_results(describe_error(error))
        return state.with_results(find_damage(self._study.out / node))

    def _read(self, node: str, name: str, offset: int, size: int) -> bytes:
        """A piece of a file on the node; InterruptedError if the run is interrupted."""
        if self._is_interrupted.is_set():
            raise InterruptedError
        folder = self._study.folders[node]
        piece = self._caller(node)(partial(node_study.read_piece, folder, name, offset, size))
        assert isinstance(piece, bytes)
        return piece

    def _remove(self, node: str) -> NodeState:
        """Remove the folder of a node with complete results here."""
        state = self._states[node]
        try:
            self._caller(node)(partial(node_study.remove, self._study.folders[node]))
        except IostudyError as error:
            return state.with_folder_removed(describe_error(error))
        return state.with_folder_removed("")

    def _caller(self, node: str) -> Callable[[Callable[[], Any]], Any]:
        """A function that calls another on the node; RecordError without an answer in time."""
        seconds = max(self._study.order.lease_seconds, _TRANSFER_SECONDS)
        return partial(self._client.call, node, seconds=seconds)

    def _set(self, node: str, state: NodeState) -> None:
        changed = self._states[node].phase is not state.phase
        self._states[node] = state
        if changed:
            self._on_change(self._states, node)

    def _stop(self) -> None:
        """Stop the running nodes, and note those that did not stop or restore."""
        lease = self._study.order.lease_seconds
        contact = partial(self._contact, seconds=lease / BEATS)
        self._is_interrupted.set()
        running = self._list(Phase.RUNNING)
        for node, answer in stop_all(contact, running, lease, self._say).items():
            state = self._states[node]
            if isinstance(answer, NoAnswer):
                self._set(node, state.without_stop(answer.reason))
            else:
                self._set(node, state.with_stop(answer))
