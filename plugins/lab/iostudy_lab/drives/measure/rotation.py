"""Time of a revolution, from the times at which repeated reads of equal blocks complete.

A sector passes under the head once in a revolution. Between two reads of it from the medium a whole
number of revolutions passes, whatever the drive does meanwhile (B. L. Worthington et al.: On-line
extraction of SCSI disk drive parameters, SIGMETRICS 1995). A device without rotation has no such
period. The Rayleigh test separates the two (K. V. Mardia, P. E. Jupp: Directional statistics,
2000).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy_lab.drives.measure.session import Session

Times = NDArray[np.float64]

_LISTS = (40, 160, 640)
"""Distinct blocks in a list; a cache that holds all of them hides the rotation."""
_PASSES = 6
_IDLE_NS = 10e6
"""Longest random idle time: it removes periods that regular response times would cause."""
_LOWEST_HZ, _HIGHEST_HZ = 40.0, 340.0
"""2,400 to 20,400 revolutions a minute."""
_LEAST_RESULTANT = 0.5
_MOST_P = 1e-6
_NEARLY_ALL = 0.8
_PEAK_WIDTH = 1.1
"""Ratio of frequencies within which the highest peak is taken."""


@dataclass(frozen=True)
class Rotation:
    """Time of a revolution with its standard error, and the test for it."""

    period_ns: float
    error_ns: float
    resultant: float
    """Length of the mean of unit vectors at the phases: 1 for equal, about 0 for random phases."""
    p_value: float
    reads: int
    distinct_reads: int

    @property
    def rpm(self) -> float:
        """Revolutions a minute."""
        return 60e9 / self.period_ns

    @property
    def rpm_error(self) -> float:
        """Half of the 95 % interval of ``rpm``."""
        return 1.96 * self.error_ns / self.period_ns * self.rpm


@dataclass(frozen=True)
class NoRotation:
    """No period was found."""

    resultant: float
    """Largest resultant of all periods tried."""
    p_value: float
    reads: int


def measure_rotation(session: Session) -> Rotation | NoRotation:
    """Search the period in repeated reads of lists of random blocks, each list longer."""
    best = NoRotation(0.0, 1.0, 0)
    for number, length in enumerate(_LISTS):
        session.begin("rotation", number / len(_LISTS))
        ends = _repeat_list(session, length)
        gaps = np.diff(ends, axis=0).ravel()
        frequency, resultant, p_value = _strongest(gaps)
        if resultant >= _LEAST_RESULTANT and p_value <= _MOST_P:
            period, error = _refine(ends, 1e9 / frequency)
            return Rotation(period, error, resultant, p_value, ends.size, length)
        if resultant > best.resultant:
            best = NoRotation(resultant, p_value, ends.size)
    return best


def _repeat_list(session: Session, length: int) -> Times:
    """Completion times: a row for each pass over the same random blocks.

    A random number of other reads precedes each pass. If all gaps had about the same length, a
    revolution more or less in each of them would fit nearly as well.
    """
    blocks = [session.random_read() for _ in range(length)]
    rows = []
    for _ in range(_PASSES):
        other = [session.random_read() for _ in range(session.random.randrange(length))]
        idle = [round(session.random.uniform(0, _IDLE_NS)) for _ in range(length)]
        requests = [
            request._replace(idle_ns=wait) for request, wait in zip(blocks, idle, strict=True)
        ]
        times = session.run([*other, *requests])
        rows.append([time.end_ns for time in times[len(other) :]])
    return np.array(rows, dtype=np.float64)


def _strongest(gaps_ns: Times) -> tuple[float, float, float]:
    """Frequency in Hz, resultant, and p-value corrected for the number of frequencies.

    Every multiple of the rotation's frequency fits as well, so the lowest good one is taken.
    """
    seconds = gaps_ns / 1e9
    step = 1 / (8 * float(seconds.max()))
    frequencies = np.arange(_LOWEST_HZ, _HIGHEST_HZ, step)
    resultants = np.concatenate(
        [
            np.abs(np.exp(2j * np.pi * np.outer(part, seconds)).mean(axis=1))
            for part in np.array_split(frequencies, max(1, len(frequencies) // 256))
        ]
    )
    good = np.flatnonzero(resultants >= _NEARLY_ALL * resultants.max())
    near = frequencies < frequencies[good[0]] * _PEAK_WIDTH
    near[: good[0]] = False
    peak = int(np.where(near, resultants, 0).argmax())
    resultant = float(resultants[peak])
    p_value = min(1.0, len(frequencies) * math.exp(-len(gaps_ns) * resultant**2))
    return float(frequencies[peak]), resultant, p_value


def _refine(ends: Times, period: float) -> tuple[float, float]:
    """Least squares of gaps against whole revolutions, over longer and longer gaps."""
    error = 0.0
    for distance in range(1, len(ends)):
        gaps = (ends[distance:] - ends[:-distance]).ravel()
        turns = np.round(gaps / period)
        residuals = gaps - turns * period
        kept = np.abs(residuals - np.median(residuals)) < period / 4
        gaps, turns = gaps[kept], turns[kept]
        period = float((gaps * turns).sum() / (turns**2).sum())
        spread = gaps - turns * period
        error = float(np.sqrt((spread**2).sum() / (len(gaps) - 1) / (turns**2).sum()))
    return period, error
