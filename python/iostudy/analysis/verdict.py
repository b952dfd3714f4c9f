"""Verdicts of paired comparisons by repeated confidence intervals and an equivalence margin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iostudy.analysis import sequential
from iostudy.analysis.boundaries import AnalysisMethod, Boundaries, build_boundaries
from iostudy.analysis.distributions import normal_quantile, t_quantile
from iostudy.analysis.futility import FUTILITY, predictive_probability
from iostudy.analysis.hodges_lehmann import hodges_lehmann, signed_rank_interval, walsh_averages
from iostudy.analysis.paired import (
    UNKNOWN,
    Array,
    Interval,
    as_fraction,
    log_ratios,
    t_bounds,
)

POWER = 0.8


class Verdict(StrEnum):
    """The result of a comparison of a configuration with the baseline."""

    EQUIVALENT = "equivalent"
    BETTER = "better"
    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Rule:
    """The decision rule. ``margin`` and ``risk`` are fractions; ``risk`` covers the whole study.

    ``comparisons`` is the number of verdicts in the study. They share the risk equally
    (Bonferroni). ``bias`` is the largest bias of an estimate, a log-ratio; every interval is wider
    by it on both sides.
    """

    margin: float
    risk: float
    min_blocks: int
    max_blocks: int
    comparisons: int = 1
    method: AnalysisMethod = AnalysisMethod.ERROR_SPENDING
    bias: float = 0.0

    @property
    def delta(self) -> float:
        """The margin as a log-ratio."""
        return math.log1p(self.margin)

    @property
    def boundaries(self) -> Boundaries:
        """The analyses of a comparison with the levels of their intervals."""
        share = self.risk / self.comparisons
        return build_boundaries(self.method, self.min_blocks, self.max_blocks, share)

    @property
    def repeated_alpha(self) -> float:
        """a*, the one level of intervals that no comparison stops by."""
        return sequential.repeated_alpha(
            self.min_blocks, self.max_blocks, self.risk / self.comparisons
        )

    def detectable_difference(self, blocks: int) -> float:
        """Return the difference, in standard deviations, that n >= 2 blocks find with power 0.8.

        (t(1 - a/2, n-1) + t(power, n-1)) / sqrt(n) with the level a of the last analysis. As n
        grows, it becomes the usual z(1 - a/2) + z(power) standard errors; with z alone a study of
        10 blocks has a power of 0.70 only.
        """
        quantile = -float(t_quantile(blocks - 1, self._last_level / 2))
        return (quantile + float(t_quantile(blocks - 1, POWER))) / math.sqrt(blocks)

    def required_blocks(self, sd: float, *, at_least: int = 0) -> int:
        """Return the fewest blocks that find a difference of the margin with power 0.8.

        ``sd`` is that of the paired log-ratios. The result may exceed ``max_blocks``. The search
        starts at ((z(1 - a/2) + z(power)) * sd / delta)^2, a few blocks below.
        """
        errors = normal_quantile(POWER) - normal_quantile(self._last_level / 2)
        found = self.delta - self.bias
        usual = math.ceil((errors * sd / found) ** 2)
        needed = max(at_least, self.min_blocks, usual)
        while self.detectable_difference(needed) * sd > found:
            needed += 1
        return needed

    @property
    def _last_level(self) -> float:
        return float(self.boundaries.difference[-1])


@dataclass(frozen=True)
class EstimatedDifference:
    """A difference with its interval and its verdict.

    ``estimate`` and ``interval`` are log-ratios, positive where the other configuration is better.
    ``by_margin``: the difference is at least the margin.
    """

    estimate: float
    interval: Interval
    verdict: Verdict
    by_margin: bool
    higher_is_better: bool

    @property
    def change(self) -> float:
        """The relative change of the figure itself: 0.12 is a figure 12 % higher, good or bad."""
        return as_fraction(self.estimate if self.higher_is_better else -self.estimate)

    @property
    def change_interval(self) -> tuple[float, float]:
        """The interval of ``change``, lower end first."""
        interval = self.interval if self.higher_is_better else self.interval.mirrored()
        return interval.as_fractions()


@dataclass(frozen=True)
class Comparison(EstimatedDifference):
    """A configuration compared with the baseline over ``blocks`` paired blocks.

    ``sd`` and ``robust_interval`` are log-ratios. The estimate is NaN without blocks, ``sd`` with
    fewer than two. ``blocks_needed`` is the total number of blocks that would probably decide an
    inconclusive comparison, more than ``max_blocks`` for a futile one; None where no standard
    deviation is known. ``fragile``: the Hodges-Lehmann interval exists and leads to another
    verdict. ``futile``: the rest of the blocks would hardly decide an inconclusive comparison,
    which therefore ends.
    """

    blocks: int
    sd: float
    blocks_needed: int | None
    robust_estimate: float
    robust_interval: Interval
    fragile: bool
    futile: bool = False


def compare(
    baseline: Sequence[float], other: Sequence[float], *, higher_is_better: bool, rule: Rule
) -> Comparison:
    """Compare the figures of two configurations, block by block in the same order.

    Raises ValueError for figures that cannot be paired or are not positive (see log_ratios).
    """
    ratios = log_ratios(baseline, other, higher_is_better=higher_is_better)
    return compare_ratios(ratios, higher_is_better=higher_is_better, rule=rule)


def compare_ratios(ratios: Array, *, higher_is_better: bool, rule: Rule) -> Comparison:
    """Compare two configurations by their paired log-ratios, one per block, positive if better.

    Blocks after the last analysis have to wait for the next one.
    """
    count = rule.boundaries.last_look(len(ratios))
    ratios = ratios[:count]
    mean = float(np.mean(ratios)) if count else math.nan
    sd = float(np.std(ratios, ddof=1)) if count > 1 else math.nan
    interval = deciding_interval(ratios, rule)
    verdict = _verdict(interval, count, rule)
    futile = verdict is Verdict.INCONCLUSIVE and bool(is_futile(mean, sd, count, rule))
    averages = walsh_averages(ratios)
    robust = _robust_interval(averages, count, rule, verdict)
    return Comparison(
        blocks=count,
        estimate=mean,
        sd=sd,
        interval=interval,
        verdict=verdict,
        by_margin=exceeds_margin(verdict, interval, rule.delta),
        blocks_needed=_blocks_needed(rule.max_blocks if futile else count, sd, rule, verdict),
        robust_estimate=hodges_lehmann(averages),
        robust_interval=robust,
        fragile=robust != UNKNOWN and _verdict(robust, count, rule) is not verdict,
        futile=futile,
        higher_is_better=higher_is_better,
    )


def deciding_interval(ratios: Array, rule: Rule) -> Interval:
    """Return the interval that the verdict on these ratios uses; infinite for n < 2."""
    if len(ratios) < 2:
        return UNKNOWN
    low, high = deciding_bounds(np.mean(ratios), np.std(ratios, ddof=1), len(ratios), rule)
    return Interval(float(low), float(high))


def deciding_bounds(
    mean: ArrayLike, sd: ArrayLike, count: ArrayLike, rule: Rule
) -> tuple[Array, Array]:
    """Return the intervals that verdicts use and reports show, elementwise.

    ``count`` must be at least 2 everywhere.
    """
    boundaries = rule.boundaries
    difference, equivalence = (
        _widen(*t_bounds(mean, sd, count, level), rule.bias)
        for level in (boundaries.difference_level(count), boundaries.equivalence_level(count))
    )
    return _choose_bounds(difference, equivalence, rule.delta)


def _widen(low: ArrayLike, high: ArrayLike, bias: float) -> tuple[Array, Array]:
    return np.asarray(low) - bias, np.asarray(high) + bias


def _choose_bounds(
    difference: tuple[ArrayLike, ArrayLike], equivalence: tuple[ArrayLike, ArrayLike], delta: float
) -> tuple[Array, Array]:
    """The interval of equivalence where that lies within the margin, else that of difference.

    The interval of two one-sided tests contains zero (Hsu, Hwang, Liu & Ruberg 1994): between zero
    and the end that a one-sided test gives, it holds the truth as often as that test is right. An
    end of the interval of difference is used where that is nearer.
    """
    (low, high), (inner_low, inner_high) = (
        (np.asarray(ends[0]), np.asarray(ends[1])) for ends in (difference, equivalence)
    )
    within = (-delta < inner_low) & (inner_high < delta)
    return (
        np.where(within, np.maximum(low, np.minimum(0.0, inner_low)), low),
        np.where(within, np.minimum(high, np.maximum(0.0, inner_high)), high),
    )


def is_futile(mean: ArrayLike, sd: ArrayLike, count: ArrayLike, rule: Rule) -> NDArray[np.bool_]:
    """Whether undecided comparisons would hardly be decided by the rest of their blocks."""
    sd, count = np.asarray(sd, dtype=np.float64), np.asarray(count)
    between = (rule.min_blocks <= count) & (count < rule.max_blocks) & (sd > 0)
    if rule.method is AnalysisMethod.CONSTANT_LEVEL or not between.any():
        return np.zeros_like(between)
    usable = np.where(between, sd, 1.0), np.where(between, count, rule.min_blocks)
    probability = predictive_probability(mean, *usable, rule.boundaries, rule.delta, rule.bias)
    return np.asarray(between & (probability < FUTILITY))


def _robust_interval(averages: Array, count: int, rule: Rule, verdict: Verdict) -> Interval:
    """The signed-rank interval, chosen as that of the mean."""
    difference, equivalence = (
        signed_rank_interval(averages, count, level)
        for level in _robust_levels(count, rule, verdict)
    )
    low, high = _choose_bounds(
        _widen(difference.low, difference.high, rule.bias),
        _widen(equivalence.low, equivalence.high, rule.bias),
        rule.delta,
    )
    return Interval(float(low), float(high))


def _robust_levels(count: int, rule: Rule, verdict: Verdict) -> tuple[float, float]:
    """The levels for difference and equivalence that ranks have.

    A comparison stops as soon as its interval barely suffices. At the same level ranks would barely
    fail in 40 % of normal samples. A decided comparison therefore has the levels of a single
    analysis.
    """
    boundaries = rule.boundaries
    if verdict is Verdict.INCONCLUSIVE or rule.method is AnalysisMethod.CONSTANT_LEVEL:
        levels = boundaries.difference_level(count), boundaries.equivalence_level(count)
        return float(levels[0]), float(levels[1])
    share = rule.risk / rule.comparisons
    return share, 2 * share


def classify_intervals(
    low: ArrayLike, high: ArrayLike, count: ArrayLike, rule: Rule
) -> NDArray[np.str_]:
    """Classify intervals [low, high] after ``count`` blocks, elementwise.

    The order of the tests is fixed: too few blocks, equivalent, better, worse, inconclusive.
    """
    low, high, delta = np.asarray(low), np.asarray(high), rule.delta
    conditions = {
        Verdict.INCONCLUSIVE: np.asarray(count) < rule.min_blocks,
        Verdict.EQUIVALENT: (-delta < low) & (high < delta),
        Verdict.BETTER: low > 0,
        Verdict.WORSE: high < 0,
    }
    words = [np.str_(verdict) for verdict in conditions]
    return np.select(list(conditions.values()), words, default=np.str_(Verdict.INCONCLUSIVE))


def _verdict(interval: Interval, count: int, rule: Rule) -> Verdict:
    return Verdict(str(classify_intervals(interval.low, interval.high, count, rule)))


def exceeds_margin(verdict: Verdict, interval: Interval, delta: float) -> bool:
    """Whether the whole interval lies beyond the margin, of which ``delta`` is the log-ratio."""
    match verdict:
        case Verdict.BETTER:
            return interval.low > delta
        case Verdict.WORSE:
            return interval.high < -delta
        case Verdict.EQUIVALENT | Verdict.INCONCLUSIVE:
            return False


def _blocks_needed(count: int, sd: float, rule: Rule, verdict: Verdict) -> int | None:
    """The blocks that find a difference of the margin; at least one more than ``count``."""
    if verdict is not Verdict.INCONCLUSIVE or math.isnan(sd):
        return None
    return rule.required_blocks(sd, at_least=count + 1)
