"""What the noise allows: which difference a study can be expected to decide on, and when."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import special

from iostudy.analysis.paired import as_fraction
from iostudy.analysis.verdict import Rule

CONFIDENCE = 0.95
"""Of the interval of a standard deviation. No verdict rests on it, so it is the usual one."""


@dataclass(frozen=True)
class Noise:
    """The standard deviation of paired log-ratios, and the interval that its blocks leave to it."""

    sd: float
    low: float
    high: float


@dataclass(frozen=True)
class Outlook:
    """What a noise lets a rule decide.

    ``reachable`` is the smallest difference, as a fraction, that ``max_blocks`` blocks find with
    power 0.8, and ``reachable_low`` and ``reachable_high`` that of the ends of the noise's
    interval. ``blocks`` are those that find a difference of the margin; they may be more than
    ``max_blocks``.
    """

    noise: Noise
    margin: float
    max_blocks: int
    reachable: float
    reachable_low: float
    reachable_high: float
    blocks: int
    blocks_low: int
    blocks_high: int

    @property
    def is_reachable(self) -> bool:
        """Whether a difference of the margin is found within the most blocks."""
        return self.reachable <= self.margin


def outlook(noise: Noise, rule: Rule) -> Outlook:
    """What the noise lets the rule decide; its formula is that of the blocks still needed."""
    sds = (noise.sd, noise.low, noise.high)
    reachable, reachable_low, reachable_high = (reachable_margin(sd, rule) for sd in sds)
    blocks, blocks_low, blocks_high = map(rule.blocks_for, sds)
    return Outlook(
        noise=noise,
        margin=rule.margin,
        max_blocks=rule.max_blocks,
        reachable=reachable,
        reachable_low=reachable_low,
        reachable_high=reachable_high,
        blocks=blocks,
        blocks_low=blocks_low,
        blocks_high=blocks_high,
    )


def reachable_margin(sd: float, rule: Rule) -> float:
    """The smallest difference, as a fraction, that ``max_blocks`` blocks find with power 0.8.

    ``sd`` is the standard deviation of the paired log-ratios. The formula is the one that also
    gives the blocks still needed (Rule.detectable).
    """
    return as_fraction(rule.detectable(rule.max_blocks) * sd)


def pooled_noise(sds_with_counts: Sequence[tuple[float, int]]) -> Noise | None:
    """One noise from several comparisons with the same baseline, each (sd, number of blocks).

    sd = sqrt(sum((n-1) sd^2) / sum(n-1)); comparisons of fewer than two blocks say nothing, and
    without any other there is none. The interval is that of a variance by chi-square,
    sd sqrt(f / chi2), for normal noise. m comparisons share the baseline's noise, hence have fewer
    degrees of freedom than sum(n-1): with equally noisy configurations the covariance of their
    log-ratios is proportional to I + J (J all ones), of eigenvalues 1 (m-1 times) and m+1, and
    Satterthwaite's f = sum(n-1)/m trace^2 / sum(eigenvalue^2) = sum(n-1) 4 / (m + 3).
    """
    known = [(sd, count - 1) for sd, count in sds_with_counts if count > 1]
    if not known:
        return None
    counted = sum(freedom for _, freedom in known)
    sd = math.sqrt(math.fsum(freedom * sd**2 for sd, freedom in known) / counted)
    freedom = counted * 4 / (len(known) + 3)
    tail = (1 - CONFIDENCE) / 2
    low, high = (sd * math.sqrt(freedom / _chi2(freedom, area)) for area in (tail, 1 - tail))
    return Noise(sd, low, high)


def _chi2(freedom: float, upper_area: float) -> float:
    return float(special.chdtri(freedom, upper_area))
