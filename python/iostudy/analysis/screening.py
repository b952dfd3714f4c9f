"""Which factors matter: the effects of a design's levels, from its replicates alone.

A block runs every run of the design once. Of its figures x = s ln y (runs in the design's order)
each contrast c makes one estimate of an effect, e_i = sum(c_r x_ir). The e_i of the blocks are the
same object as paired log-ratios: what a block's trials have in common cancels, as weights sum to 0,
and blocks are independent. So an effect is judged by the t interval of the mean of its own e_i,
never by the residual of the model; whatever strata of error the design has (a split plot), each e_i
holds those that belong to its contrast.

Holm (1979) steps down over all m effects of all workloads: the clearest is judged at the risk / m,
the next one at the risk / (m - 1), and so on until one is not clear enough. With the level of
repeated looks, a*, in place of that of a single one this holds at whichever look it is done (closed
testing: Maurer & Bretz 2013; Ye, Li, Liu & Yao 2013).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from iostudy.analysis import sequential
from iostudy.analysis.verdict import Comparison, Rule, Verdict, judge

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """An effect block by block: log-ratios, positive where better."""

    ratios: Array
    higher_is_better: bool


@dataclass(frozen=True)
class Effect:
    """Where an effect stands.

    ``comparison`` has the verdict of its interval, or that of Holm's step where only that found a
    difference (``by_holm``). ``p`` is adjusted for looks and by Holm: the least risk of the study
    at which the effect would be found; NaN before the first look.
    """

    comparison: Comparison
    p: float
    by_holm: bool


def screen(series: Sequence[Series], rule: Rule) -> tuple[Effect, ...]:
    """Where all effects of a study stand; ``rule.comparisons`` is how many they are."""
    compared = [
        judge(each.ratios, higher_is_better=each.higher_is_better, rule=rule) for each in series
    ]
    single = [_single_p(comparison, rule) for comparison in compared]
    found, adjusted = holm(single, rule), _adjusted(single, rule)
    return tuple(
        _effect(comparison, p, by_holm=is_found)
        for comparison, p, is_found in zip(compared, adjusted, found, strict=True)
    )


def _effect(comparison: Comparison, p: float, *, by_holm: bool) -> Effect:
    if not by_holm or comparison.verdict is not Verdict.INCONCLUSIVE:
        return Effect(comparison, p, by_holm=False)
    word = Verdict.BETTER if comparison.estimate > 0 else Verdict.WORSE
    return Effect(replace(comparison, verdict=word, blocks_needed=None), p, by_holm=True)


def _single_p(comparison: Comparison, rule: Rule) -> float:
    """The p value of this look alone, two-sided; NaN before the first look."""
    if comparison.blocks < rule.min_blocks:
        return math.nan
    if not comparison.sd:
        return float(comparison.estimate == 0)
    t = comparison.estimate / (comparison.sd / math.sqrt(comparison.blocks))
    return 2 * float(special.stdtr(comparison.blocks - 1, -abs(t)))


def holm(single: Sequence[float], rule: Rule) -> tuple[bool, ...]:
    """Which effects are found, given the p values of their present looks; NaN is none."""
    found = [False] * len(single)
    for step, index in enumerate(_clearest_first(single)):
        level = replace(rule, comparisons=rule.comparisons - step).repeated_alpha
        if not single[index] <= level:
            break
        found[index] = True
    return tuple(found)


def _adjusted(single: Sequence[float], rule: Rule) -> tuple[float, ...]:
    """The least risk at which Holm's steps would find each."""
    adjusted, least = [math.nan] * len(single), 0.0
    for step, index in enumerate(_clearest_first(single)):
        if math.isnan(single[index]):
            break
        least = max(least, (rule.comparisons - step) * _repeated(single[index], rule))
        adjusted[index] = min(1.0, least)
    return tuple(adjusted)


def _clearest_first(single: Sequence[float]) -> list[int]:
    return [int(index) for index in np.argsort(single, kind="stable")]


def _repeated(p: float, rule: Rule) -> float:
    """The risk of any look as clear as a single one of ``p``."""
    looks = rule.max_blocks - rule.min_blocks + 1
    if looks == 1 or not 0 < p < 1:
        return p
    ever = sequential.ever_outside(rule.min_blocks, rule.max_blocks, p)
    # Between that of one look and the sum of all: the recursion's own error exceeds a p of 1e-9.
    return min(max(ever, p), looks * p)
