"""Calls of the controller on a node that runs trials together with others."""

from __future__ import annotations

import time

from iostudy_fleet.supervision import node_study
from iostudy_fleet.supervision.work_folder import WorkFolder
from iostudy_fleet.together.trial_messages import Answer, ServerPhase, TrialRequest
from iostudy_fleet.together.trial_socket import connect, receive_answer, send

_START_SECONDS = 0.2
"""Pause for a server that does not listen yet."""
_HANG_FACTOR = 1.5
"""A server answers within the time of the request; later it hangs."""


def carry(folder: WorkFolder, request: TrialRequest) -> Answer:
    """Hand the request to the server and wait for its answer; renew the lease before and after.

    TimeoutError if the server hangs.
    """
    status = node_study.contact(folder, node_study.Request.CONTINUE)
    if not status.running:
        return Answer(ServerPhase.ENDED, line=status.line)
    try:
        with connect(folder) as connection:
            send(connection, request)
            if not connection.poll(_HANG_FACTOR * request.seconds + _START_SECONDS):
                raise TimeoutError("the server of trials does not answer")
            answer = receive_answer(connection)
    except (EOFError, ConnectionError, FileNotFoundError):
        time.sleep(_START_SECONDS)
        return Answer(ServerPhase.STARTING)
    node_study.contact(folder, node_study.Request.CONTINUE)
    return answer


def read_clock() -> tuple[float, float]:
    """CLOCK_MONOTONIC at the receipt of the question and at its answer, in seconds."""
    received = time.monotonic()
    return received, time.monotonic()
