"""Slow runs of a configuration, and an upper bound of their share.

A verdict is about the typical run. A run is slow if its figure is worse than the configuration's
median by more than five margins, as a log-ratio beyond ln(1 + 5 margin). A failed run is slow. Of
n independent runs, k are slow: the upper bound of Clopper & Pearson (1934) for their true share
misses it with a probability of at most its level. For k = 0 it is 1 - level^(1/n).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from iostudy.analysis.distributions import Array, Flags, beta_cdf
from iostudy.analysis.root_finding import find_root

SLOW_MARGINS = 5
"""A slow run is worse than the median by more than so many margins."""


@dataclass(frozen=True)
class SlowRuns:
    """Runs that failed, or are worse than the configuration's median by over five margins."""

    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True, "extra": "forbid"}

    slow: int
    """Number of slow runs."""
    runs: int
    """Number of runs."""
    at_most: float
    """Upper bound of the share of slow runs, at a confidence of 1 minus the study's risk."""

    def add_failed(self, runs: int, level: float) -> SlowRuns:
        """Return them with so many further runs, all of which failed."""
        numbers = self.slow + runs, self.runs + runs
        return SlowRuns(*numbers, bound_share(*numbers, level))


def find_slow_runs(figures: Array, margin: float, level: float) -> SlowRuns:
    """Return the slow runs among s ln y, with the bound at a one-sided level; -inf failed."""
    slow = int(is_slow(figures, margin).sum()) if len(figures) else 0
    return SlowRuns(slow, len(figures), bound_share(slow, len(figures), level))


def is_slow(figures: Array, margin: float) -> Flags:
    """Whether each run is slow, among those of its row of s ln y."""
    # The upper median is a run, so that it exists next to failures.
    middle = np.sort(figures, axis=-1)[..., figures.shape[-1] // 2, None]
    limit = middle - math.log1p(SLOW_MARGINS * margin)
    return np.asarray((figures < limit) | np.isneginf(figures))


def bound_share(slow: int, runs: int, level: float) -> float:
    """Return the one-sided upper bound of Clopper and Pearson for a share."""
    if slow >= runs:
        return 1.0
    if not slow:
        return float(1 - level ** (1 / runs))
    return find_root(
        lambda share: 1 - level - beta_cdf(slow + 1, runs - slow, share), slow / runs, 1.0, 1e-9
    )


@functools.cache
def most_slow_runs(runs: int, share: float, level: float) -> int:
    """Return the largest number of slow runs whose bound is below a share; -1 if none is."""
    return sum(bound_share(slow, runs, level) < share for slow in range(runs)) - 1
