"""Stop of the studies on several nodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from iostudy_fleet.deployment.client import NoAnswer
from iostudy_fleet.supervision.node_study import NodeStatus, Request

Statuses = Mapping[str, NodeStatus | NoAnswer]

_POLL_SECONDS = 0.2
_LONG_SECONDS = 3.0


def stop_all(
    contact: Callable[[Collection[str], Request], Statuses],
    nodes: Collection[str],
    seconds: float,
    say: Callable[[str], None],
) -> dict[str, NodeStatus | NoAnswer]:
    """Request the nodes to stop; wait up to ``seconds`` for the end of those that answer.

    ``contact`` sends a request to nodes; ``say`` gets a line if the wait is long. Return the last
    status of each node, or why it gave none.
    """
    began, has_said = time.monotonic(), False
    statuses = dict(contact(nodes, Request.STOP))
    running = _list_running(statuses)
    while running and time.monotonic() < began + seconds:
        if not has_said and time.monotonic() > began + _LONG_SECONDS:
            has_said = True
            say(f"waiting for {', '.join(running)} to restore settings, {seconds:g} s at most")
        time.sleep(_POLL_SECONDS)
        answers = contact(running, Request.CONTINUE)
        statuses |= {
            node: status for node, status in answers.items() if isinstance(status, NodeStatus)
        }
        running = _list_running(statuses)
    return statuses


def _list_running(statuses: Statuses) -> list[str]:
    return [node for node, answer in statuses.items() if is_running(answer)]


def is_running(answer: NodeStatus | NoAnswer) -> bool:
    """Whether a node has said that its study runs."""
    return isinstance(answer, NodeStatus) and answer.running
