"""How long the requests of block devices took and how large they were, as values (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

COST = (
    "every request of the disks is traced, which costs a little time of each: "
    "compare only with what was traced as well"
)
"""What is to be known of a study that asks for it."""

Operation = str
"""``read``, ``write``, ``discard`` or ``flush``."""


@dataclass(frozen=True)
class Requests:
    """The requests of one device that do the same, from their issue to the driver to completion.

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
        """What JSON has made of it: pairs come back as lists."""
        pairs = {name: tuple(map(tuple, values[name])) for name in ("latencies_us", "sizes")}
        return cls(**{**values, **pairs})

    @property
    def moved_bytes(self) -> int:
        """Of all together."""
        return sum(size * count for size, count in self.sizes)


@dataclass(frozen=True)
class BlockRequests:
    """All that was seen of them, by device and operation.

    A device that hands on what it is asked for, as device-mapper and md do, has no requests of its
    own. ``events`` were read; ``lost`` were overwritten before that. ``unmatched`` are ends of
    requests whose other end was not seen: it lay outside the recording, or was lost.
    """

    devices: Mapping[str, Mapping[Operation, Requests]]
    events: int
    lost: int
    unmatched: int
    reader_cpu_seconds: float

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> BlockRequests:
        """What JSON has made of it."""
        devices = {
            device: {name: Requests.from_values(own) for name, own in operations.items()}
            for device, operations in values["devices"].items()
        }
        return cls(**{**values, "devices": devices})

    def notes(self) -> tuple[str, ...]:
        """What is to be known of how far the figures can be trusted."""
        told = []
        if not self.devices:
            told.append("no request was seen on any device below the target")
        if self.lost:
            told.append(
                f"{self.lost} of {self.events + self.lost} events of block requests came too fast "
                "to be read: requests are missing from their histograms"
            )
        return tuple(told)
