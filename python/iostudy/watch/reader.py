"""Reader of counters from sample to sample, with bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from iostudy import _native

if TYPE_CHECKING:
    from iostudy.telemetry.samples import Samples

MAX_COLUMNS_RATIO = 4
"""Columns, for each that has a value, beyond which another reader is opened: so few that memory and
time stay of the size that the host needs, and so many that it is seldom done."""
_CLOCK = "clock.boottime_ns"
_NANOSECONDS = 1e9
_ACCUMULATED = ("workload.", "foreign.")
"""Columns that are no counters of the kernel: a reader adds them up from when it was opened."""


class Reader:
    """Takes a sample at once, and one more for each look: none is ever of the time since boot.

    A native reader keeps a column for all that it has ever seen. Where containers, volumes and
    their interfaces come and go it would take more memory and time without end, so another one
    takes its place when most of what it knows is gone.

    ``devices`` are all or those of these names, ``workload`` processes as `_native.Reader` has it.
    """

    def __init__(self, devices: Sequence[str] | None, workload: Sequence[int]) -> None:
        self._devices, self._workload = devices, workload
        self._native = self._opened()
        self._before: Samples | None = None
        """The last of the reader that was given up, until the new one has been looked at."""

    def look(self) -> Samples:
        """The counters at the last look, or when this was made, and now."""
        self._native.sample()
        native = self._native.take()
        # Not at the top: numpy is slow to load, and the first sample need not wait for it.
        from iostudy.telemetry.samples import Samples

        samples = Samples.from_native(native)
        if self._before is not None:
            samples, self._before = _join(self._before, samples), None
        # Only when processes have just been scanned, so that what they did since is not lost.
        if len(native.names) > MAX_COLUMNS_RATIO * len(samples.columns) and has_processes(samples):
            self._native, self._before = self._opened(), samples
        return samples

    def _opened(self) -> _native.Reader:
        """Another one, whose first sample is taken."""
        reader = _native.Reader(self._devices, self._workload)
        reader.sample()
        reader.take()
        return reader


def has_processes(samples: Samples) -> bool:
    """Whether the last sample has the processes."""
    used = samples.group("foreign").get("cpu_us")
    return used is not None and isfinite(used[-1])


def _join(before: Samples, after: Samples) -> Samples:
    """``after``, but from the last of ``before`` on, which another reader took just before it."""
    import numpy as np

    from iostudy.telemetry.samples import Samples

    gap = (after.columns[_CLOCK][0] - before.columns[_CLOCK][-1]) / _NANOSECONDS
    columns = dict(after.columns)
    for name, values in after.columns.items():
        if not name.startswith(_ACCUMULATED):
            first = before.columns[name][-1] if name in before.columns else np.nan
            columns[name] = np.concatenate(([first], values[1:]))
    return Samples(np.concatenate(([0.0], after.seconds[1:] + gap)), columns, after.processes)
