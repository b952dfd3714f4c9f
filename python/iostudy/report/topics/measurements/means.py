"""Paired means of figures without verdicts (pure)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from iostudy.analysis.paired import Interval, as_fraction, log_ratios, mean_interval

Values = Mapping[int, float]
"""A figure by block."""


@dataclass(frozen=True)
class PairedMeans:
    """Means over the blocks that two configurations have both run.

    ``mean`` is geometric, and its change against the baseline that of paired log-ratios; where one
    of the figures is not above 0 it is arithmetic, and there is no change.
    """

    blocks: int
    mean: float
    change: float | None = None
    interval: Interval | None = None


def compare_means(base: Values, own: Values, alpha: float) -> PairedMeans | None:
    """Return ``own`` relative to ``base`` with an interval; None without common blocks."""
    common = sorted(base.keys() & own.keys())
    if not common:
        return None
    ours, theirs = ([values[block] for block in common] for values in (own, base))
    if not all(math.isfinite(value) and value > 0 for value in (*ours, *theirs)):
        return PairedMeans(len(common), math.fsum(ours) / len(ours))
    ratios = log_ratios(theirs, ours, higher_is_better=True)
    return PairedMeans(
        blocks=len(common),
        mean=math.exp(math.fsum(map(math.log, ours)) / len(ours)),
        change=as_fraction(float(np.mean(ratios))),
        interval=mean_interval(ratios, alpha),
    )
