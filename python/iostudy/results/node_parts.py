"""Parts of a joint trial: the run of each node, as the ledger keeps it (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iostudy.workloads.measurement import BYTES, Part

_NODE = "node"
_SECONDS, _START, _ERROR = "seconds", "start_after", "clock_error"


@dataclass(frozen=True)
class NodePart:
    """The run of a node: ``seconds`` by its own clock, ``start_after`` the first node's start.

    ``error`` is the largest possible error of a time on the common clock, in seconds.
    """

    node: str
    seconds: float
    start_after: float
    error: float
    size: int

    def to_part(self) -> Part:
        """As a part of a trial."""
        figures = {
            _SECONDS: self.seconds,
            _START: self.start_after,
            _ERROR: self.error,
            BYTES: float(self.size),
        }
        return Part({_NODE: self.node}, figures)


def read_node_parts(parts: Sequence[Part]) -> tuple[NodePart, ...]:
    """The runs of the nodes; none in a trial of one host."""
    return tuple(
        NodePart(
            node=own.labels[_NODE],
            seconds=own.figures[_SECONDS],
            start_after=own.figures[_START],
            error=own.figures[_ERROR],
            size=round(own.figures[BYTES]),
        )
        for own in parts
        if _NODE in own.labels
    )
