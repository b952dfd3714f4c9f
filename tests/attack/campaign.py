"""A bounded series of attacks of one kind, and the number of them that succeeded."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class AttackCount:
    """Tries of one attack and the descriptions of those that succeeded."""

    attack: str
    tries: int = 0
    failures: list[str] = field(default_factory=list)

    def record(self, failure: str = "") -> None:
        """Count one try; ``failure`` describes what the attack achieved, empty if nothing."""
        self.tries += 1
        if failure:
            self.failures.append(failure)


def attempts(seconds: float, most: int) -> Iterator[int]:
    """Numbers from 0 to ``most`` - 1, ended early after ``seconds``."""
    deadline = time.monotonic() + seconds
    for number in range(most):
        if time.monotonic() > deadline:
            return
        yield number
