"""Comparison of two studies by the effects within each, with Welch's t interval.

An effect is the mean of a study's paired log-ratios against its own baseline. The deviation of a
day or a host cancels within each pair. Welch's interval (1947) of the difference of two effects
allows unequal variances and unequal numbers of blocks. Raw figures have the same interval, but
whatever differs between the studies is part of their difference, so that they have no verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from iostudy.analysis.decision import is_balanced
from iostudy.analysis.distributions import Array, t_quantile
from iostudy.analysis.paired import UNKNOWN, Interval, PairedRuns
from iostudy.analysis.rule import Rule
from iostudy.analysis.verdict import (
    EstimatedDifference,
    Verdict,
    classify_intervals,
    exceeds_margin,
)


@dataclass(frozen=True)
class EffectComparison(EstimatedDifference):
    """The effect of a configuration in the second study compared with that in the first.

    ``effects`` are the mean log-ratios of both, positive where better than the baseline, and
    ``blocks`` their numbers of pairs. Effects and estimate are NaN without a pair, and after a
    failed run.
    """

    effects: tuple[float, float]
    blocks: tuple[int, int]


def combine_rules(first: Rule, second: Rule, comparisons: int) -> Rule:
    """Return the stricter of two studies' rules, element by element.

    The level a* is that of interim analyses from the smaller ``min_blocks`` to the larger
    ``max_blocks``. For as many comparisons it is at most that of either study. Each study stops
    where chance favours its own verdict, which also shifts its means. No theorem shows that this
    level suffices for their difference; the calibration is the evidence
    (docs/method/two-studies.md). The biases of windows of two studies add up.
    """
    return Rule(
        margin=min(first.margin, second.margin),
        risk=min(first.risk, second.risk),
        min_blocks=min(first.min_blocks, second.min_blocks),
        max_blocks=max(first.max_blocks, second.max_blocks),
        comparisons=comparisons,
        bias=first.bias + second.bias,
        continuation=max(first.continuation, second.continuation, key=lambda c: c.stages),
    )


def compare_effects(
    first: PairedRuns, second: PairedRuns, *, higher_is_better: bool, rule: Rule
) -> EffectComparison:
    """Compare the effects of two studies.

    There is no verdict before the study with fewer pairs has ``min_blocks``, and before both orders
    have occurred in enough blocks of both.
    """
    x, y = first.differences, second.differences
    blocks = (len(x), len(y))
    interval = difference_interval(x, y, rule)
    ready = all(
        runs.after is None or (len(runs.after) and is_balanced(runs.after[None])[0, -1])
        for runs in (first, second)
    )
    verdict = _classify(interval, min(blocks), rule) if ready else Verdict.INCONCLUSIVE
    effects = _mean(x), _mean(y)
    return EffectComparison(
        effects=effects,
        blocks=blocks,
        estimate=effects[1] - effects[0],
        interval=interval,
        verdict=verdict,
        by_margin=exceeds_margin(verdict, interval, rule.delta),
        higher_is_better=higher_is_better,
    )


def compare_samples(
    first: Array, second: Array, *, higher_is_better: bool, rule: Rule
) -> EstimatedDifference:
    """Compare logarithms of runs without pairs, analysed once.

    The interval is that of one analysis if ``rule`` has as many fewest as most blocks. It is
    infinite with fewer than two runs of either side.
    """
    x, y = (sample if higher_is_better else -sample for sample in (first, second))
    interval = difference_interval(x, y, rule)
    verdict = _classify(interval, min(len(x), len(y)), rule)
    return EstimatedDifference(
        estimate=_mean(y) - _mean(x),
        interval=interval,
        verdict=verdict,
        by_margin=exceeds_margin(verdict, interval, rule.delta),
        higher_is_better=higher_is_better,
    )


def difference_interval(first: Array, second: Array, rule: Rule) -> Interval:
    """Return Welch's interval of mean(second) - mean(first), wider by ``rule.bias``.

    It is infinite where a sample has fewer than two values, or one that is not finite. Figures of
    few digits can be equal by chance: of two values as likely, one is all of the first sample and
    the other all of the second with a probability of 2^(1 - n1 - n2). If that is more than the
    level, equal values have no interval.
    """
    samples = (first, second)
    if min(map(len, samples)) < 2 or not all(np.isfinite(sample).all() for sample in samples):
        return UNKNOWN
    estimate, level = _mean(second) - _mean(first), rule.repeated_alpha(max(map(len, samples)))
    are_equal = all(np.ptp(sample) == 0 for sample in samples)
    if are_equal and 2.0 ** (1 - len(first) - len(second)) > level:
        return UNKNOWN
    half = _half_width(samples, level) + rule.bias
    return Interval(estimate - half, estimate + half)


def _classify(interval: Interval, blocks: int, rule: Rule) -> Verdict:
    """The verdict of one interval. A one-sided verdict has the level of the others."""
    verdict = Verdict(str(classify_intervals(interval.low, interval.high, blocks, rule)))
    if verdict.is_final or blocks < rule.min_blocks:
        return verdict
    if interval.low > -rule.delta:
        return Verdict.NOT_WORSE
    return Verdict.NOT_BETTER if interval.high < rule.delta else verdict


def _mean(values: Array) -> float:
    return float(np.mean(values)) if len(values) and np.isfinite(values).all() else math.nan


def _half_width(samples: tuple[Array, Array], alpha: float) -> float:
    """t(1 - alpha/2, nu) sqrt(V1 + V2), V = s^2 / n, with Welch's degrees of freedom nu."""
    counts = np.array([len(sample) for sample in samples], dtype=np.float64)
    shares = np.array([np.var(sample, ddof=1) for sample in samples]) / counts
    total = float(shares.sum())
    if total == 0:
        return 0.0
    freedom = 1 / float(((shares / total) ** 2 / (counts - 1)).sum())
    return -float(t_quantile(freedom, alpha / 2)) * math.sqrt(total)
