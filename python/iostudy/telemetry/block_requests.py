"""Latencies and sizes of block requests, as values (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TRACING_COST_NOTE = (
    "every request of the disks is traced, which costs a little time of each: "
    "compare only with results that were traced as well"
)
"""The note in every study with tracing."""

Operation = str
"""``read``, ``write``, ``discard`` or ``flush``."""


@dataclass(frozen=True)
class Requests:
    """The requests of one operation on one device, from issue to the driver to completion.

    ``latencies_us`` is (upper bound in microseconds, count), ``sizes`` (bytes, count), both
    ascending; a flush has size 0.
    """

    count: int
    mean_us: float
    max_us: float
    latencies_us: tuple[tuple[float, int], ...]
    sizes: tuple[tuple[int, int], ...]

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Requests:
        """Build it from JSON values, in which pairs are lists."""
        pairs = {name: tuple(map(tuple, values[name])) for name in ("latencies_us", "sizes")}
        return cls(**{**values, **pairs})

    @property
    def moved_bytes(self) -> int:
        """The bytes of all requests."""
        return sum(size * count for size, count in self.sizes)


@dataclass(frozen=True)
class BlockRequests:
    """All recorded block requests, by device and operation.

    Device-mapper and md pass requests on and have none of their own. ``events`` were read; ``lost``
    were overwritten before that. ``unmatched`` are issues or completions without a counterpart: it
    was outside the recording, or was lost.
    """

    devices: Mapping[str, Mapping[Operation, Requests]]
    events: int
    lost: int
    unmatched: int
    reader_cpu_seconds: float

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> BlockRequests:
        """Build it from JSON values."""
        devices = {
            device: {name: Requests.from_values(own) for name, own in operations.items()}
            for device, operations in values["devices"].items()
        }
        return cls(**{**values, "devices": devices})

    def notes(self) -> tuple[str, ...]:
        """Return notes about missing requests."""
        notes = []
        if not self.devices:
            notes.append("no request was recorded on any device below the target")
        if self.lost:
            notes.append(
                f"{self.lost} of {self.events + self.lost} events of block requests were "
                "overwritten before they were read: requests are missing from their histograms"
            )
        return tuple(notes)
