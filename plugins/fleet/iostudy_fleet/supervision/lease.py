"""Time that a node may continue without the controller's heartbeat (pure)."""

from __future__ import annotations

from dataclasses import dataclass, replace

BEATS = 4
"""Heartbeats per lease: three may be lost without an effect."""


@dataclass(frozen=True)
class Lease:
    """A lease of some seconds, and the monotonic time of its last renewal."""

    seconds: float
    renewed_at: float

    @property
    def beat_seconds(self) -> float:
        """Time between two heartbeats."""
        return self.seconds / BEATS

    def renew(self, now: float) -> Lease:
        """The lease after a heartbeat."""
        return replace(self, renewed_at=now)

    def left(self, now: float) -> float:
        """Seconds until it expires, at least 0."""
        return max(0.0, self.renewed_at + self.seconds - now)

    def has_expired(self, now: float) -> bool:
        """Whether there was no heartbeat for so long."""
        return self.left(now) == 0.0
