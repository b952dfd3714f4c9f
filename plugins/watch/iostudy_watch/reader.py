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


class SampleReader:
    """Takes a sample at once, and one more for each look, so none covers the time since boot.

    A native reader keeps a column for every device or interface that ever existed. On hosts
    with short-lived containers it would grow without limit, so a new reader replaces it when
    most of its columns are gone.

    ``devices`` are all or those of these names; ``workload`` are processes as for
    `_native.Reader`.
    """

    def __init__(self, devices: Sequence[str] | None, workload: Sequence[int]) -> None:
        self._devices, self._workload = devices, workload
        self._native = self._opened()
        self._before: Samples | None = None
        """The last sample of the replaced reader, until the first look of the new one."""

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
        """Return a new reader with its first sample."""
        reader = _native.Reader(self._devices, self._workload)
        reader.sample()
        reader.take()
        return reader


def has_processes(samples: Samples) -> bool:
    """Whether the last sample includes a scan of the processes."""
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
