"""Statistics of a modelled drive's server: commands, lateness, and whether it kept its times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iostudy.units import format_percent, format_significant
from iostudy_lab.lateness import LATENESS_FIGURE, SERVICE_FIGURE

LATENESS_LIMIT_NS = 250_000
"""Limit of the 99th percentile of lateness, or `_LATE_SHARE` of the mean service time if longer."""
_LATE_SHARE = 0.05
LATENESS_LIMIT_SHARE = 0.02
"""Limit of the mean lateness as a share of the mean service time, which bounds the bias."""
_PERCENTILE = 0.99


@dataclass(frozen=True)
class DriveStatistics:
    """Counts and times of an interval; ``lateness_ns`` counts commands by lateness, ascending.

    ``over_depth`` counts the commands that arrived while the queue of the drive was full.
    """

    reads: int
    writes: int
    flushes: int
    service_ns: int
    lateness_ns: Mapping[int, int]
    over_depth: int

    @classmethod
    def from_json(cls, counters: Mapping[str, Any]) -> DriveStatistics:
        """Those that the server has written."""
        return cls(
            reads=int(counters["reads"]),
            writes=int(counters["writes"]),
            flushes=int(counters["flushes"]),
            service_ns=int(counters["service_ns"]),
            lateness_ns={int(value): int(count) for value, count in counters["lateness_ns"]},
            over_depth=int(counters["over_depth"]),
        )

    def since(self, earlier: DriveStatistics) -> DriveStatistics:
        """The statistics of the time since ``earlier``."""
        lateness = {
            value: count - earlier.lateness_ns.get(value, 0)
            for value, count in self.lateness_ns.items()
        }
        return DriveStatistics(
            self.reads - earlier.reads,
            self.writes - earlier.writes,
            self.flushes - earlier.flushes,
            self.service_ns - earlier.service_ns,
            {value: count for value, count in lateness.items() if count},
            self.over_depth - earlier.over_depth,
        )

    @property
    def commands(self) -> int:
        """Completed commands."""
        return self.reads + self.writes + self.flushes

    @property
    def mean_service_ns(self) -> float:
        """Mean service time of the model; 0 without commands."""
        return self.service_ns / self.commands if self.commands else 0.0

    @property
    def mean_lateness_ns(self) -> float:
        """Mean lateness; 0 without commands."""
        total = sum(value * count for value, count in self.lateness_ns.items())
        return total / self.commands if self.commands else 0.0

    def lateness_percentile(self, share: float = _PERCENTILE) -> int:
        """Lateness in nanoseconds that this share of the commands does not exceed."""
        passed = 0
        for value, count in self.lateness_ns.items():
            passed += count
            if passed >= share * self.commands:
                return value
        return 0

    def figures(self) -> dict[str, float]:
        """Return mean service time and 99th percentile of lateness, in microseconds, by name."""
        return {
            SERVICE_FIGURE: self.mean_service_ns / 1e3,
            LATENESS_FIGURE: self.lateness_percentile() / 1e3,
        }

    def invalid_reason(self) -> str:
        """Return why a measurement over this interval does not count; empty if it does.

        A drive without reads and writes cannot have delayed one: flushes of an empty cache take no
        time, of which any lateness is more than a share.
        """
        if self.over_depth:
            return f"{self.over_depth} commands found the queue of the modelled drive full"
        if not self.reads + self.writes:
            return ""
        late, mean, service = (
            self.lateness_percentile(),
            self.mean_lateness_ns,
            self.mean_service_ns,
        )
        limit = max(LATENESS_LIMIT_NS, _LATE_SHARE * service)
        if late > limit:
            return (
                f"the modelled drive was late: 99 % of its completions by up to {_us(late)}, "
                f"more than {_us(limit)}"
            )
        if mean > LATENESS_LIMIT_SHARE * service:
            return (
                f"the modelled drive was late by {_us(mean)} on average, more than "
                f"{format_percent(LATENESS_LIMIT_SHARE)} of the mean service time ({_us(service)})"
            )
        return ""


def _us(nanoseconds: float) -> str:
    return f"{format_significant(nanoseconds / 1e3)} us"
