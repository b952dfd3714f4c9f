"""Lost nodes that answer again, as the heartbeats of a crew find them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping

from iostudy_fleet.deployment.client import NoAnswer
from iostudy_fleet.supervision.node_study import NodeStatus

Statuses = Mapping[str, NodeStatus | NoAnswer]


class LostNodes:
    """Used by two threads: the heartbeats look for nodes, and blocks take those that returned."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._returned: tuple[str, ...] = ()
        self._skipped = frozenset[str]()
        self._excluded = set[str]()
        self.unrestored: dict[str, str] = {}
        """The last line of the log of nodes that could not restore all."""

    def look(
        self, list_lost: Callable[[], Collection[str]], stop: Callable[[Collection[str]], Statuses]
    ) -> None:
        """Ask the lost nodes to stop their servers; note those that may return."""
        with self._lock:
            left_out = self._skipped | self._excluded
            lost = [node for node in list_lost() if node not in left_out]
            answers = stop(lost) if lost else {}
            self._returned = tuple(node for node, answer in answers.items() if _may_return(answer))
            self.unrestored |= {
                node: status.line
                for node, status in answers.items()
                if isinstance(status, NodeStatus) and status.is_unrestored
            }

    def take_returned(self) -> tuple[str, ...]:
        """Return the nodes without a server and with all restored.

        Until the next call, `look` does not stop what begins there.
        """
        with self._lock:
            returned, self._returned = self._returned, ()
            self._skipped = frozenset(returned)
            return returned

    def exclude(self, node: str) -> None:
        """Look for that node no more."""
        with self._lock:
            self._excluded.add(node)


def _may_return(answer: NodeStatus | NoAnswer) -> bool:
    if isinstance(answer, NoAnswer) or answer.running or answer.ending is None:
        return False
    return answer.ending.may_begin_again
