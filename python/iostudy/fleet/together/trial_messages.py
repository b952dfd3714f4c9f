"""Messages between the controller and the server of trials on a node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from iostudy.errors import IostudyError, WorkloadError

Call = Callable[[Any], Any]
"""A function of a `ServedNode`, which a node carries out; it can be pickled."""


@dataclass(frozen=True)
class Release:
    """The end of the wait at the start line: at an instant of the node's clock, or None: no run."""

    instant: float | None


@dataclass(frozen=True)
class TrialRequest:
    """A call, its number in the order of calls, and its release once there is one.

    ``call`` is None for the last one, which ends the server. The same request may come again: a
    call is carried out once. ``seconds`` is the longest wait for an answer.
    """

    number: int
    call: Call | None
    release: Release | None
    seconds: float


class ServerPhase(StrEnum):
    """What the server does with a call; ``ENDED`` is that of the server itself."""

    STARTING = "starting"
    BUSY = "busy"
    READY = "ready"
    DONE = "done"
    ENDED = "ended"


@dataclass(frozen=True)
class Outcome:
    """The value of a call, or its error."""

    value: Any = None
    error: IostudyError | None = None


@dataclass(frozen=True)
class Answer:
    """A phase; ``outcome`` is there when it is DONE, ``line`` explains the end of a server."""

    phase: ServerPhase
    outcome: Outcome | None = None
    line: str = ""

    @property
    def is_settled(self) -> bool:
        """Whether the controller has to act."""
        return self.phase in (ServerPhase.READY, ServerPhase.DONE)


class NotStartedError(WorkloadError):
    """A run was called off at the start line, for a reason of another node."""


class LateStartError(WorkloadError):
    """A node was ready after the instant at which it was to start."""
