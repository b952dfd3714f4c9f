"""Server of trials on a node: carries out the controller's calls, one after another."""

from __future__ import annotations

import threading
import time
from functools import partial
from multiprocessing.connection import Connection, Listener
from typing import Any

from pydantic import TypeAdapter

from iostudy.errors import IostudyError
from iostudy.node.protocol import Wait
from iostudy_fleet.supervision.work_folder import WorkFolder
from iostudy_fleet.together.trial_messages import (
    Answer,
    Call,
    LateStartError,
    NodeError,
    NotStartedError,
    Outcome,
    Release,
    ServerPhase,
    TrialRequest,
)
from iostudy_fleet.together.trial_socket import listen, receive_request, send


class TrialServer:
    """Calls run in the main thread, where signals end them; threads answer the controller.

    ``calls`` are those of an earlier server, which a slow network may deliver again.
    """

    def __init__(self, calls: int = 0) -> None:
        self._changed = threading.Condition()
        self._request = TrialRequest(number=calls, call=None, release=None, seconds=0.0)
        self._outcome: Outcome | None = Outcome()
        self._is_ready = False
        self._release: Release | None = None

    def serve(self, folder: WorkFolder, node: Any) -> None:
        """Carry out calls on this node until the last one."""
        with listen(folder) as listener:
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
            while (call := self._next_call()) is not None:
                self._conclude(_attempt(call, node))

    def reach_start(self) -> Wait:
        """The start line of the node: wait for the release; return the wait for its instant.

        NotStartedError if the trial does not run.
        """
        with self._changed:
            self._is_ready = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._release is not None)
            assert self._release is not None
            instant = self._release.instant
            self._is_ready = False
        if instant is None:
            raise NotStartedError(
                "a run of all nodes",
                found="it was called off: another node cannot start it",
                where="this node",
                remedy="the error of the other node says why",
            )
        return partial(_wait_until, instant)

    def answer(self, request: TrialRequest) -> Answer:
        """Accept a call that is new, or its release; wait for the next point to act at."""
        with self._changed:
            self._accept_request(request)
            self._changed.wait_for(lambda: self._status().is_settled, request.seconds)
            return self._status()

    def _accept_request(self, request: TrialRequest) -> None:
        if request.number > self._request.number:
            self._request, self._outcome = request, None
            self._is_ready, self._release = False, None
        if request.number == self._request.number and self._release is None:
            self._release = request.release
        self._changed.notify_all()

    def _status(self) -> Answer:
        if self._outcome is not None:
            return Answer(ServerPhase.DONE, self._outcome)
        is_waiting = self._is_ready and self._release is None
        return Answer(ServerPhase.READY if is_waiting else ServerPhase.BUSY)

    def _next_call(self) -> Call | None:
        with self._changed:
            self._changed.wait_for(lambda: self._outcome is None)
            return self._request.call

    def _conclude(self, outcome: Outcome) -> None:
        with self._changed:
            self._outcome, self._is_ready = outcome, False
            self._changed.notify_all()

    def _accept(self, listener: Listener) -> None:
        while True:
            try:
                connection = listener.accept()
            except OSError:  # it is closed
                return
            threading.Thread(target=self._reply, args=(connection,), daemon=True).start()

    def _reply(self, connection: Connection) -> None:
        with connection:
            try:
                send(connection, self.answer(receive_request(connection)))
            except (EOFError, OSError):  # the controller asks again
                return


def _wait_until(instant: float) -> None:
    """Wait for an instant of the monotonic clock; LateStartError if it has passed."""
    late = time.monotonic() - instant
    if late > 0:
        raise LateStartError(
            "a start at the agreed instant",
            found=f"the node was ready {late:.3f} s after it",
            where="this node",
            remedy="look at the load of this node",
        )
    while (left := instant - time.monotonic()) > 0:
        time.sleep(left)


def _attempt(call: Call, node: Any) -> Outcome:
    try:
        # The types of the method turn the data of the arguments into what it takes.
        method = TypeAdapter(getattr(type(node), call.method))
        return Outcome(value=method.validate_python((node, *call.arguments)))
    except IostudyError as error:
        return Outcome(error=NodeError.describe(error))
