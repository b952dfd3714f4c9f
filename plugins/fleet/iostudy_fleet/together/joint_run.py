"""Aggregate of runs that nodes made at the same time, and its parts in the ledger (pure)."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iostudy.workloads.measurement import BYTES, Part
from iostudy_fleet.clock_offset import ClockOffset


@dataclass(frozen=True)
class NodeRun:
    """The run of a node; ``began`` and ``ended`` are seconds of its own monotonic clock.

    The offsets of that clock are those before the run and after it, since clocks drift.
    """

    node: str
    began: float
    ended: float
    size: int
    offset_before: ClockOffset
    offset_after: ClockOffset

    @property
    def start(self) -> float:
        """Its start, by the clock of the controller."""
        return self.offset_before.to_asker(self.began)

    @property
    def end(self) -> float:
        """Its end, by the clock of the controller."""
        return self.offset_after.to_asker(self.ended)

    @property
    def seconds(self) -> float:
        """Its duration, by its own clock."""
        return self.ended - self.began


@dataclass(frozen=True)
class JointRun:
    """The runs of all nodes together.

    ``seconds`` are from the first start to the last end, with an error of at most ``error``. The
    time of one node is by its own clock, without such an error.
    ``start_skew`` is from the first to the last start, ``tail_seconds`` from the first to the last
    end. ``stragglers`` took longer than the median node by more than the margin, slowest first.
    """

    size: int
    seconds: float
    error: float
    start_skew: float
    tail_seconds: float
    stragglers: tuple[str, ...]

    @property
    def bytes_per_second(self) -> float:
        """All bytes over the time from the first start to the last end."""
        return self.size / self.seconds


def join_runs(runs: Sequence[NodeRun], margin: float) -> JointRun:
    """Join the runs of one trial; ``margin`` is that of the study, as a fraction."""
    is_one = len(runs) == 1
    starts, ends = [run.start for run in runs], [run.end for run in runs]
    before = max(run.offset_before.error for run in runs)
    after = max(run.offset_after.error for run in runs)
    return JointRun(
        size=sum(run.size for run in runs),
        seconds=runs[0].seconds if is_one else max(ends) - min(starts),
        error=0.0 if is_one else before + after,
        start_skew=max(starts) - min(starts),
        tail_seconds=max(ends) - min(ends),
        stragglers=find_stragglers({run.node: run.seconds for run in runs}, margin),
    )


def find_stragglers(seconds: Mapping[str, float], margin: float) -> tuple[str, ...]:
    """The nodes that took longer than the median node by more than the margin, slowest first."""
    limit = (1 + margin) * statistics.median(seconds.values())
    slow = sorted((node for node in seconds if seconds[node] > limit), key=lambda n: -seconds[n])
    return tuple(slow)


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
            node=part.labels[_NODE],
            seconds=part.figures[_SECONDS],
            start_after=part.figures[_START],
            error=part.figures[_ERROR],
            size=round(part.figures[BYTES]),
        )
        for part in parts
        if _NODE in part.labels
    )
