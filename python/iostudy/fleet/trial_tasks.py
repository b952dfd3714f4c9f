"""Tasks of the controller on a node that runs trials together with others."""

from __future__ import annotations

import time

from iostudy.fleet import node_study
from iostudy.fleet.trial_messages import Answer, ServerPhase, TrialRequest
from iostudy.fleet.trial_socket import connect
from iostudy.fleet.work_folder import WorkFolder

_START_SECONDS = 0.2
"""Pause for a server that does not listen yet."""


def carry(folder: WorkFolder, request: TrialRequest) -> Answer:
    """Renew the lease; hand the request to the server and wait for its answer."""
    status = node_study.contact(folder, node_study.Request.CONTINUE)
    if not status.running:
        return Answer(ServerPhase.ENDED, line=status.line)
    try:
        with connect(folder) as connection:
            connection.send(request)
            answer = connection.recv()
    except (EOFError, ConnectionError, FileNotFoundError):
        time.sleep(_START_SECONDS)
        return Answer(ServerPhase.STARTING)
    assert isinstance(answer, Answer)
    return answer


def read_clock() -> tuple[float, float]:
    """CLOCK_MONOTONIC at the receipt of the question and at its answer, in seconds."""
    received = time.monotonic()
    return received, time.monotonic()
