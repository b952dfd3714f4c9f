"""What the noise allows: which difference a study can be expected to decide on."""

from __future__ import annotations

import math
from collections.abc import Iterable

from iostudy.analysis.paired import as_fraction
from iostudy.analysis.verdict import Rule


def reachable_margin(sd: float, rule: Rule) -> float:
    """The smallest difference, as a fraction, that ``max_blocks`` blocks find with power 0.8.

    ``sd`` is the standard deviation of the paired log-ratios. The formula is the one that also
    gives the blocks still needed (Rule.detectable).
    """
    return as_fraction(rule.detectable(rule.max_blocks) * sd)


def pooled_sd(sds_with_counts: Iterable[tuple[float, int]]) -> float:
    """One standard deviation from those of several comparisons, each (sd, number of blocks).

    sqrt(sum((n-1) sd^2) / sum(n-1)); comparisons of fewer than two blocks say nothing. NaN where
    none is left.
    """
    known = [(sd, count - 1) for sd, count in sds_with_counts if count > 1]
    if not known:
        return math.nan
    squares = math.fsum(freedom * sd**2 for sd, freedom in known)
    return math.sqrt(squares / sum(freedom for _, freedom in known))
