"""Timed requests to a drive: the interface between estimators and devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

Operation = Literal["read", "write", "fua", "flush"]
BLOCK_BYTES = 512
"""Size of a block: requests count in blocks, as the kernel does."""


class Request(NamedTuple):
    """A request, and the time that the host idles before it. Blocks have 512 bytes."""

    operation: Operation
    block: int
    blocks: int
    idle_ns: int = 0


class Timing(NamedTuple):
    """Times of submission and completion on the prober's clock."""

    start_ns: int
    end_ns: int

    @property
    def response_ns(self) -> int:
        """Time from submission to completion."""
        return self.end_ns - self.start_ns


class Prober(Protocol):
    """A drive under measurement."""

    @property
    def blocks(self) -> int:
        """Blocks of 512 bytes."""

    @property
    def unit(self) -> int:
        """Blocks of the smallest request; requests are aligned to it."""

    @property
    def most_blocks(self) -> int:
        """Blocks of the largest request that reaches the drive as one command."""

    @property
    def most_depth(self) -> int:
        """Requests that the host can keep in flight."""

    def run(self, requests: Sequence[Request], depth: int) -> list[Timing]:
        """Send requests in order, at most ``depth`` in flight; return when all have completed."""
