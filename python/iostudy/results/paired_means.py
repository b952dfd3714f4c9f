"""Means of a figure over the blocks that two configurations have both run (pure)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.decision import estimate_alone
from iostudy.analysis.paired import PairedRuns, as_fraction, mean_interval
from iostudy.analysis.rule import Rule

Values = Mapping[int, float]
"""A figure by block."""

_ALPHA = 0.05
"""Risk of the interval of a mean."""


@dataclass(frozen=True)
class PairedMeans:
    """Means over the blocks that two configurations have both run.

    ``mean`` is geometric, and its change against the baseline that of a typical pair. Where one of
    the figures is not above 0 it is arithmetic, and there is no change. The baseline has none.
    ``change`` and the ends of its ``interval`` are fractions. ``logs`` are the logarithms behind a
    geometric mean.
    """

    blocks: int
    mean: float
    logs: NDArray[np.float64] | None = None
    change: float | None = None
    interval: tuple[float, float] | None = None

    @property
    def mean_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the mean, if it is known."""
        if self.logs is None:
            return None
        ends = mean_interval(self.logs, _ALPHA)
        with np.errstate(over="ignore"):
            return float(np.exp(ends.low)), float(np.exp(ends.high))


def compare_means(base: Values, compared: Values, rule: Rule) -> PairedMeans:
    """``compared`` against ``base`` in the blocks and by the interval of a verdict.

    The mean is NaN without common blocks.
    """
    common = sorted(base.keys() & compared.keys())
    common = common[: rule.last_look(len(common))]
    if not common:
        return PairedMeans(0, math.nan)
    ours, theirs = ([values[block] for block in common] for values in (compared, base))
    if not all(math.isfinite(value) and value > 0 for value in (*ours, *theirs)):
        return PairedMeans(len(common), math.fsum(ours) / len(ours))
    logs = np.log(ours)
    mean = math.exp(math.fsum(logs) / len(ours))
    if compared is base:
        return PairedMeans(len(common), mean, logs)
    ratios = PairedRuns.from_figures(theirs, ours, higher_is_better=True).differences
    change, interval = estimate_alone(ratios, rule)
    return PairedMeans(len(common), mean, logs, as_fraction(change), interval.as_fractions())
