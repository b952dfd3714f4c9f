"""Result of one run of a workload: figures, latencies, parts and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

BYTES = "bytes"
"""The figure with the bytes moved on the target, from which foreign I/O is computed."""
AGGREGATE = "aggregate"
"""The figure in MiB/s of all bytes over the time from first start to last end."""
EXEC_TIME = "exec_time"
"""The figure with that time in seconds."""

Histogram = tuple[tuple[float, int], ...]
"""Latencies as (upper bound in microseconds, count), ascending, without empty buckets."""


@dataclass(frozen=True)
class Part:
    """Figures of a part of a run: one job of several, one cell of a matrix.

    ``labels`` say which part (``{"operation": "read", "record_size": "4KiB"}``), in the order in
    which they are shown; the figures are among the definition's ``part_figures``.
    """

    labels: Mapping[str, str]
    figures: Mapping[str, float]


def _nothing() -> None:
    """Verify nothing: a function, because processes of a simulation send measurements."""


@dataclass(frozen=True)
class Measurement:
    """The result of one run: figures by name, and their details.

    ``latencies`` are histograms by operation (``read``). ``notes`` report deviations from the
    request and what readers of the figures must know. ``departures`` make a trial incomparable
    with others, such as a log that failed during the run. The caller calls ``verify``
    after the measured time, before any reset or cleaning. It compares the written data with the
    expected data and raises WorkloadError.
    """

    figures: Mapping[str, float]
    latencies: Mapping[str, Histogram] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()
    departures: tuple[str, ...] = ()
    verify: Callable[[], None] = _nothing
