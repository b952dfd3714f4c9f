"""Offset between two clocks from exchanged timestamps, with a bound of its error.

The estimate is that of NTP (RFC 5905, section 8), of the exchange with the shortest round trip.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Exchange:
    """Timestamps of a question and its answer, in seconds.

    ``sent`` and ``returned`` are of the asker's clock, ``received`` and ``answered`` of the other.
    """

    sent: float
    received: float
    answered: float
    returned: float

    @property
    def round_trip(self) -> float:
        """Seconds on the way, both ways."""
        return (self.returned - self.sent) - (self.answered - self.received)


@dataclass(frozen=True)
class ClockOffset:
    """The other clock minus that of the asker, in seconds; the true one is within ``error``."""

    seconds: float
    error: float

    def to_other(self, asker_time: float) -> float:
        """A time of the asker's clock on the other clock."""
        return asker_time + self.seconds

    def to_asker(self, other_time: float) -> float:
        """A time of the other clock on the asker's clock."""
        return other_time - self.seconds


def estimate_offset(exchanges: Iterable[Exchange]) -> ClockOffset:
    """The offset by the exchange with the shortest round trip; its error is half of that trip.

    The bound holds however the time divides between the two ways, while neither clock is stepped
    and both have the same rate. ValueError without an exchange.
    """
    best = min(exchanges, key=lambda exchange: exchange.round_trip)
    forth, back = best.received - best.sent, best.answered - best.returned
    return ClockOffset(seconds=(forth + back) / 2, error=best.round_trip / 2)
