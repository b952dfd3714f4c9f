"""Recorder of telemetry during a trial."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from iostudy import _native
from iostudy.telemetry.processes import FOREIGN_KB
from iostudy.telemetry.rate import DEFAULT_HZ
from iostudy.telemetry.summary import TelemetrySummary

if TYPE_CHECKING:
    from iostudy.telemetry.samples import Samples


@dataclass(frozen=True)
class Telemetry:
    """One recording: its summary, and the samples behind it."""

    summary: TelemetrySummary
    samples: Samples = field(repr=False)


class Recorder(Protocol):
    """The interface of a recorder."""

    def start(self) -> None:
        """Start recording."""

    def stop(self) -> Telemetry:
        """Stop recording and return the telemetry."""


class ProcRecorder:
    """A recorder that reads /proc and /sys through the Rust sampler.

    ``devices`` are kernel names, None for all of them; ``workload`` the processes whose descendants
    are the workload, with themselves; ``hz`` the samples a second; ``private_devices`` those that
    the study made.
    """

    def __init__(
        self,
        devices: Sequence[str] | None,
        workload: Sequence[int] = (),
        hz: float = DEFAULT_HZ,
        private_devices: Sequence[str] = (),
    ) -> None:
        self._sampler = _native.Sampler(devices, workload, 1 / hz)
        self._private_devices = tuple(private_devices)

    def start(self) -> None:
        """Take the first sample now."""
        self._continued_before = _CONTINUATIONS.watch()
        self._sampler.start()

    def stop(self) -> Telemetry:
        native = self._sampler.stop()
        is_continued = _CONTINUATIONS.watch() > self._continued_before
        # Not at the top: most commands never record, and numpy is slow to load.
        from iostudy.telemetry.figures import summarize_samples
        from iostudy.telemetry.samples import Samples

        samples = Samples.from_native(native)
        summary = replace(summarize_samples(samples), private_devices=self._private_devices)
        if os.geteuid() != 0:
            # The kernel hides the bytes of other users' processes.
            machine = {k: v for k, v in summary.machine.items() if k != FOREIGN_KB}
            summary = replace(summary, machine=machine)
        if is_continued:
            # While this process was stopped, it took no samples, and no native workload ran in it.
            stopped = max(summary.workload.get("stopped_s", 0.0), summary.machine["longest_gap_s"])
            summary = replace(summary, workload={**summary.workload, "stopped_s": stopped})
        return Telemetry(summary, samples)


@dataclass
class _Continuations:
    """Counts how often SIGCONT has continued this process, which only the main thread can watch."""

    times: int = 0

    def watch(self) -> int:
        """Return the number so far, and count from now on."""
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGCONT) is signal.SIG_DFL:
            signal.signal(signal.SIGCONT, self._count)
        return self.times

    def _count(self, *_: object) -> None:
        self.times += 1


_CONTINUATIONS = _Continuations()
