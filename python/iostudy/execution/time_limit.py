"""Time limit of a run, after which no block begins."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from iostudy.execution.listeners import Listener
from iostudy.ledger.given_up_workloads import TimeLimitRecord
from iostudy.ledger.store import Ledger


@dataclass(frozen=True)
class TimeLimit:
    """A limit of so many seconds, which ends at ``deadline`` of the monotonic clock."""

    seconds: float
    deadline: float

    @classmethod
    def start(cls, seconds: float) -> TimeLimit:
        """Return a limit that begins now."""
        return cls(seconds, time.monotonic() + seconds)

    @property
    def seconds_left(self) -> float:
        """The time that is left; 0 after the deadline."""
        return max(0.0, self.deadline - time.monotonic())

    @property
    def is_reached(self) -> bool:
        """Whether the time is used up."""
        return not self.seconds_left


NO_LIMIT = TimeLimit(math.inf, math.inf)


def record_time_limit(limit: TimeLimit, ledger: Ledger, listeners: Sequence[Listener]) -> None:
    """Record that the limit ended the study, and notify the listeners."""
    TimeLimitRecord(ledger).add(limit.seconds)
    for listener in listeners:
        listener.time_limit_reached(limit.seconds)
