"""Two studies beside each other: a difference of means without pairs.

Each study has a mean log figure of its own, and the interval of their difference is Welch's (1947),
which takes neither the noise nor the number of trials to be the same in both. Nothing cancels: what
the two studies do not have in common - the host, the day, the state of the disk - is part of the
difference, and in no interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from iostudy.analysis.paired import UNKNOWN, Array, Interval, logarithms
from iostudy.analysis.verdict import Judged, Rule, Verdict, decide, is_by_margin


@dataclass(frozen=True)
class Unpaired(Judged):
    """The second study's configuration against the first's, without pairs.

    The estimate is NaN where a study has no trial, and the interval infinite where one has fewer
    than two. ``trials`` are those of the first and of the second study.
    """

    trials: tuple[int, int]


def stricter(first: Rule, second: Rule, comparisons: int) -> Rule:
    """The rule of two studies side by side: of everything that decides the stricter.

    The level a* is that of looks from the fewer of the fewest blocks to the more of the most: at
    most either study's own, for as many comparisons. Each study stops where chance helps its own
    verdict, which moves its means as well; that this level is enough for their difference is no
    theorem, the calibration is the evidence (docs/method.md, "Two studies").
    """
    return Rule(
        margin=min(first.margin, second.margin),
        risk=min(first.risk, second.risk),
        min_blocks=min(first.min_blocks, second.min_blocks),
        max_blocks=max(first.max_blocks, second.max_blocks),
        comparisons=comparisons,
    )


def compare(
    first: Sequence[float], second: Sequence[float], *, higher_is_better: bool, rule: Rule
) -> Unpaired:
    """Compare the figures of a configuration in two studies.

    Verdicts are read as those of pairs, once the study with the fewer trials has the fewest
    blocks of the rule. Raises ValueError for a figure that is not a positive finite number.
    """
    sign = 1 if higher_is_better else -1
    ours, theirs = sign * logarithms("first", first), sign * logarithms("second", second)
    trials = (len(first), len(second))
    estimate = float(np.mean(theirs) - np.mean(ours)) if min(trials) else math.nan
    half = _half_width(ours, theirs, rule.repeated_alpha)
    interval = Interval(estimate - half, estimate + half) if math.isfinite(half) else UNKNOWN
    verdict = Verdict(str(decide(interval.low, interval.high, min(trials), rule)))
    return Unpaired(
        trials=trials,
        estimate=estimate,
        interval=interval,
        verdict=verdict,
        by_margin=is_by_margin(verdict, interval, rule.delta),
        higher_is_better=higher_is_better,
    )


def times_as_wide(pairs: Sequence[tuple[Array, Array]]) -> float | None:
    """How many times as wide intervals are without pairs, by what pairs within studies cancelled.

    ``pairs`` are the log figures of two configurations in the same blocks. Two means that are not
    paired have the variance Var x + Var y, pairs Var (y - x): the square root of the ratio of both,
    each pooled by its degrees of freedom. It is squared for the blocks. None without any spread.
    """
    known = [(x, y, len(x) - 1) for x, y in pairs if len(x) > 1]
    apart = math.fsum(f * float(np.var(x, ddof=1) + np.var(y, ddof=1)) for x, y, f in known)
    paired = math.fsum(f * float(np.var(y - x, ddof=1)) for x, y, f in known)
    return math.sqrt(apart / paired) if paired else None


def _half_width(first: Array, second: Array, alpha: float) -> float:
    """t(1 - alpha/2, nu) sqrt(V1 + V2), V = s^2 / n, with Welch's degrees of freedom nu."""
    if min(len(first), len(second)) < 2:
        return math.inf
    counts = np.array([len(first), len(second)], dtype=np.float64)
    shares = np.array([np.var(each, ddof=1) for each in (first, second)]) / counts
    total = float(shares.sum())
    if total == 0:
        return 0.0
    freedom = total**2 / float((shares**2 / (counts - 1)).sum())
    return -float(special.stdtrit(freedom, alpha / 2)) * math.sqrt(total)
