"""Stop of the studies on several nodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from iostudy.fleet.deployment.client import NoAnswer
from iostudy.fleet.supervision.node_study import NodeStatus, Request

Statuses = Mapping[str, NodeStatus | NoAnswer]

_POLL_SECONDS = 0.2


def stop_all(
    contact: Callable[[Collection[str], Request], Statuses], nodes: Collection[str], seconds: float
) -> dict[str, NodeStatus | NoAnswer]:
    """Request the nodes to stop; wait at most so long for the end of those that answer.

    ``contact`` sends a request to nodes. Return the last answer of each.
    """
    end = time.monotonic() + seconds
    found = dict(contact(nodes, Request.STOP))
    while time.monotonic() < end:
        running = [node for node, answer in found.items() if is_running(answer)]
        if not running:
            break
        time.sleep(_POLL_SECONDS)
        found |= contact(running, Request.CONTINUE)
    return found


def is_running(answer: NodeStatus | NoAnswer) -> bool:
    """Whether a node has said that its study runs."""
    return isinstance(answer, NodeStatus) and answer.running
