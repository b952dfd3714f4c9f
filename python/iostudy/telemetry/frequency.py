"""Figure of the CPU frequency (pure)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iostudy.telemetry.processors import tick_increments
from iostudy.telemetry.samples import Samples, Values
from iostudy.telemetry.summary import Figures

_KHZ_PER_MHZ = 1000


def compute_frequency_figures(samples: Samples) -> Figures:
    """Compute ``MHz``: the mean frequency of the processors, weighted by their busy time.

    An idle processor lowers its frequency without any effect on the work of others.
    """
    pairs = list(_readings(samples))
    if not pairs:
        return {}
    khz, busy = (np.concatenate(each) for each in zip(*pairs, strict=True))
    weights = busy if busy.sum() > 0 else np.ones_like(busy)
    return {"MHz": float(np.average(khz, weights=weights)) / _KHZ_PER_MHZ}


def _readings(samples: Samples) -> Iterator[tuple[Values, Values]]:
    """Yield the frequencies of each processor, and its busy ticks since the reading before."""
    cores = samples.keyed("cpu")
    for number, columns in samples.keyed("frequency").items():
        there = np.isfinite(columns["khz"])
        if number in cores and there.sum() > 1:
            there &= np.isfinite(cores[number]["busy"])
            yield columns["khz"][there][1:], tick_increments(cores[number]["busy"][there])
