"""Unpaired comparison of two studies by Welch's t interval.

Each study has its own mean log figure. Welch's interval (1947) of their difference allows unequal
variances and unequal numbers of trials. No common influence cancels: differences of host, day or
disk state are part of the estimate, and no interval covers them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iostudy.analysis.distributions import t_quantile
from iostudy.analysis.paired import UNKNOWN, Array, Interval, logarithms
from iostudy.analysis.verdict import (
    EstimatedDifference,
    Rule,
    Verdict,
    classify_intervals,
    exceeds_margin,
)


@dataclass(frozen=True)
class UnpairedComparison(EstimatedDifference):
    """A configuration in the second study compared with the one in the first, unpaired.

    The estimate is NaN where a study has no trial. The interval is infinite where one has fewer
    than two. ``trials`` counts those of the first and of the second study.
    """

    trials: tuple[int, int]


def combine_rules(first: Rule, second: Rule, comparisons: int) -> Rule:
    """Return the stricter of two studies' rules, element by element.

    The level a* is that of interim analyses from the smaller ``min_blocks`` to the larger
    ``max_blocks``. For as many comparisons it is at most that of either study. Each study stops
    where chance favours its own verdict, which also shifts its means. No theorem shows that this
    level suffices for their difference; the calibration is the evidence (docs/method.md, "Two
    studies"). The biases of windows of two studies add up.
    """
    return Rule(
        margin=min(first.margin, second.margin),
        risk=min(first.risk, second.risk),
        min_blocks=min(first.min_blocks, second.min_blocks),
        max_blocks=max(first.max_blocks, second.max_blocks),
        comparisons=comparisons,
        bias=first.bias + second.bias,
    )


def compare(
    first: Sequence[float], second: Sequence[float], *, higher_is_better: bool, rule: Rule
) -> UnpairedComparison:
    """Compare the figures of a configuration in two studies.

    Verdicts are classified as for pairs, once the study with fewer trials has ``min_blocks``.
    Raises ValueError for a figure that is not a positive finite number.
    """
    sign = 1 if higher_is_better else -1
    x, y = sign * logarithms("first", first), sign * logarithms("second", second)
    trials = (len(first), len(second))
    estimate = float(np.mean(y) - np.mean(x)) if min(trials) else math.nan
    half = _half_width(x, y, rule.repeated_alpha) + rule.bias
    interval = Interval(estimate - half, estimate + half) if math.isfinite(half) else UNKNOWN
    verdict = Verdict(str(classify_intervals(interval.low, interval.high, min(trials), rule)))
    return UnpairedComparison(
        trials=trials,
        estimate=estimate,
        interval=interval,
        verdict=verdict,
        by_margin=exceeds_margin(verdict, interval, rule.delta),
        higher_is_better=higher_is_better,
    )


def interval_width_ratio(pairs: Sequence[tuple[Array, Array]]) -> float | None:
    """Return the ratio of the widths of unpaired and paired intervals.

    ``pairs`` are the log figures of two configurations in the same blocks. Unpaired means have the
    variance Var x + Var y, pairs Var (y - x). The result is the square root of their ratio, each
    pooled by its degrees of freedom; its square is the ratio of required blocks. None if all
    variances are 0.
    """
    known = [(x, y, len(x) - 1) for x, y in pairs if len(x) > 1]
    unpaired = math.fsum(f * float(np.var(x, ddof=1) + np.var(y, ddof=1)) for x, y, f in known)
    paired = math.fsum(f * float(np.var(y - x, ddof=1)) for x, y, f in known)
    return math.sqrt(unpaired / paired) if paired else None


def _half_width(first: Array, second: Array, alpha: float) -> float:
    """t(1 - alpha/2, nu) sqrt(V1 + V2), V = s^2 / n, with Welch's degrees of freedom nu."""
    if min(len(first), len(second)) < 2:
        return math.inf
    counts = np.array([len(first), len(second)], dtype=np.float64)
    shares = np.array([np.var(sample, ddof=1) for sample in (first, second)]) / counts
    total = float(shares.sum())
    if total == 0:
        return 0.0
    freedom = total**2 / float((shares**2 / (counts - 1)).sum())
    return -float(t_quantile(freedom, alpha / 2)) * math.sqrt(total)
