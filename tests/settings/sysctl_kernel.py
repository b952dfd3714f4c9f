"""A kernel for tests of sysctls: pairs that clear one another, and a kill between writes."""

from __future__ import annotations

import errno

PAIRS = {
    "vm/dirty_bytes": "vm/dirty_ratio",
    "vm/dirty_background_bytes": "vm/dirty_background_ratio",
}
_RATIOS = {ratio: amount for amount, ratio in PAIRS.items()}
_LEAST = {"vm/dirty_bytes": 8192, "vm/dirty_background_bytes": 1}


class SimulatedKill(BaseException):
    """What SIGKILL would be."""


class Kernel:
    """What mm/page-writeback.c makes of a write; `lives` writes are taken before the kill.

    ``passed`` are the values after each write.
    """

    def __init__(self, values: dict[str, str]) -> None:
        self.values = values
        self.lives: int | None = None
        self.passed: list[dict[str, str]] = []

    def read(self, key: str) -> str | None:
        return self.values.get(key)

    def write(self, key: str, text: str) -> None:
        if self.lives == 0:
            raise SimulatedKill
        self.lives = None if self.lives is None else self.lives - 1
        self.store(key, text.strip())

    def store(self, key: str, value: str) -> None:
        if int(value) < _LEAST.get(key, 0):
            raise OSError(errno.EINVAL, "Invalid argument")
        changed = self.values[key] != value
        self.values[key] = value
        other = PAIRS.get(key) or _RATIOS.get(key)
        if other and (changed or "background" in key):
            self.values[other] = "0"
        self.passed.append(dict(self.values))
