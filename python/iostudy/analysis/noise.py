"""Minimum detectable effect and required blocks of a study, from its noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from iostudy.analysis.distributions import chi_squared_quantile
from iostudy.analysis.paired import as_fraction
from iostudy.analysis.rule import Rule

CONFIDENCE = 0.95
"""Confidence level of the interval of a standard deviation. No verdict depends on it."""


@dataclass(frozen=True)
class Noise:
    """The standard deviation of paired log-ratios with its confidence interval."""

    sd: float
    low: float
    high: float


@dataclass(frozen=True)
class PowerEstimate:
    """The power of a decision rule at a given noise.

    ``detectable_effect`` is the minimum detectable effect as a fraction: the smallest difference
    that ``max_blocks`` blocks find with power 0.8. ``detectable_effect_low`` and
    ``detectable_effect_high`` are the same for the ends of the noise's interval. ``blocks`` is the
    number of blocks that find a difference of the margin. It may exceed ``max_blocks``.
    """

    noise: Noise
    margin: float
    max_blocks: int
    detectable_effect: float
    detectable_effect_low: float
    detectable_effect_high: float
    blocks: int
    blocks_low: int
    blocks_high: int

    @property
    def is_margin_detectable(self) -> bool:
        """Whether ``max_blocks`` blocks find a difference of the margin with power 0.8."""
        return self.detectable_effect <= self.margin


def estimate_power(noise: Noise, rule: Rule) -> PowerEstimate:
    """Return the power of the rule at this noise, by the formula for the required blocks."""
    sds = (noise.sd, noise.low, noise.high)
    reachable, reachable_low, reachable_high = (minimum_detectable_effect(sd, rule) for sd in sds)
    blocks, blocks_low, blocks_high = map(rule.required_blocks, sds)
    return PowerEstimate(
        noise=noise,
        margin=rule.margin,
        max_blocks=rule.max_blocks,
        detectable_effect=reachable,
        detectable_effect_low=reachable_low,
        detectable_effect_high=reachable_high,
        blocks=blocks,
        blocks_low=blocks_low,
        blocks_high=blocks_high,
    )


def minimum_detectable_effect(sd: float, rule: Rule) -> float:
    """Return the smallest difference that ``max_blocks`` blocks find with power 0.8, as a fraction.

    ``sd`` is the standard deviation of the paired log-ratios. The same formula gives
    `Rule.required_blocks`.
    """
    return as_fraction(rule.detectable_difference(rule.max_blocks) * sd + rule.bias)


def pool_noise(sds_with_counts: Sequence[tuple[float, int]]) -> Noise | None:
    """Pool the noise of several comparisons with the same baseline, each (sd, number of blocks).

    sd = sqrt(sum((n-1) sd^2) / sum(n-1)). Comparisons with fewer than two blocks, or a failed run,
    do not contribute; return None where no other exists. The interval is that of a variance by
    chi-square, sd sqrt(f / chi2), for normal noise. m comparisons share the baseline's noise, hence
    have fewer degrees of freedom than sum(n-1): with equally noisy configurations the covariance of
    their log-ratios is proportional to I + J (J all ones), of eigenvalues 1 (m-1 times) and m+1. So
    Satterthwaite's f is sum(n-1)/m trace^2 / sum(eigenvalue^2) = sum(n-1) 4 / (m + 3).
    """
    spreads = [(sd, count - 1) for sd, count in sds_with_counts if count > 1 and not math.isnan(sd)]
    if not spreads:
        return None
    counted = sum(freedom for _, freedom in spreads)
    sd = math.sqrt(math.fsum(freedom * sd**2 for sd, freedom in spreads) / counted)
    freedom = counted * 4 / (len(spreads) + 3)
    tail = (1 - CONFIDENCE) / 2
    chi_squared = (float(chi_squared_quantile(freedom, area)) for area in (tail, 1 - tail))
    low, high = (sd * math.sqrt(freedom / quantile) for quantile in chi_squared)
    return Noise(sd, low, high)
