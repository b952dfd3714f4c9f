"""Records what the machine does while a trial runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from iostudy import _native
from iostudy.telemetry.rate import DEFAULT_HZ
from iostudy.telemetry.summary import TelemetrySummary

if TYPE_CHECKING:
    from iostudy.telemetry.samples import Samples


@dataclass(frozen=True)
class Telemetry:
    """One recording: its figures, and the samples that they were told from."""

    seen: TelemetrySummary
    samples: Samples = field(repr=False)


class Recorder(Protocol):
    """Anything that can watch while a trial runs."""

    def start(self) -> None:
        """Begin to record."""

    def stop(self) -> Telemetry:
        """End, and tell what was seen."""


class ProcRecorder:
    """The recorder that reads /proc and /sys through the Rust sampler.

    ``devices`` are kernel names, None for all of them; ``workload`` the processes whose descendants
    are the workload, with themselves; ``hz`` how often a second.
    """

    def __init__(
        self, devices: Sequence[str] | None, workload: Sequence[int] = (), hz: float = DEFAULT_HZ
    ) -> None:
        self._sampler = _native.Sampler(devices, workload, 1 / hz)

    def start(self) -> None:
        """Take the first sample now."""
        self._sampler.start()

    def stop(self) -> Telemetry:
        """Take the last sample now."""
        native = self._sampler.stop()
        # Not at the top: most commands never record, and numpy is slow to load.
        from iostudy.telemetry.figures import tell
        from iostudy.telemetry.samples import Samples

        samples = Samples.of(native)
        return Telemetry(tell(samples), samples)
