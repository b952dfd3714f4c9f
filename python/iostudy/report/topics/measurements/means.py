"""Paired means of figures without verdicts (pure)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from iostudy.analysis.decision import deciding_interval, estimate
from iostudy.analysis.paired import Interval, PairedRuns, as_fraction
from iostudy.analysis.rule import Rule

Values = Mapping[int, float]
"""A figure by block."""


@dataclass(frozen=True)
class PairedMeans:
    """Means over the blocks that two configurations have both run.

    ``mean`` is geometric, and its change against the baseline that of a typical pair. Where one of
    the figures is not above 0 it is arithmetic, and there is no change.
    """

    blocks: int
    mean: float
    change: float | None = None
    interval: Interval | None = None


def compare_means(base: Values, own: Values, rule: Rule) -> PairedMeans | None:
    """``own`` compared with ``base`` in the blocks and by the interval of a verdict.

    None without common blocks.
    """
    common = sorted(base.keys() & own.keys())
    common = common[: rule.boundaries_of(len(common)).last_look(len(common))]
    if not common:
        return None
    ours, theirs = ([values[block] for block in common] for values in (own, base))
    if not all(math.isfinite(value) and value > 0 for value in (*ours, *theirs)):
        return PairedMeans(len(common), math.fsum(ours) / len(ours))
    ratios = PairedRuns.from_figures(theirs, ours, higher_is_better=True).differences
    return PairedMeans(
        blocks=len(common),
        mean=math.exp(math.fsum(map(math.log, ours)) / len(ours)),
        change=as_fraction(estimate(ratios, rule)),
        interval=deciding_interval(ratios, rule),
    )
