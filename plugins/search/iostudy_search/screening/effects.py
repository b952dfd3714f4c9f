"""Main effects and interactions of a design, tested by contrasts within replicated blocks.

A block runs every run of the design once. Each contrast c turns its figures x = s ln y (runs in the
design's order) into one estimate of an effect, e_i = sum(c_r x_ir). The e_i behave as paired
log-ratios: shared influences of a block cancel because the weights sum to 0, and blocks are
independent. The test of an effect is therefore the t interval of the mean of its own e_i, not the
residual of the model. In a split plot each e_i contains the error strata of its contrast.

Holm's (1979) procedure steps down over all m effects of all workloads: the most significant is
tested at risk / m, the next one at risk / (m - 1), until one is not significant. With the level a*
of repeated analyses in place of a single level, it holds at any interim analysis (closed testing:
Maurer & Bretz 2013; Ye, Li, Liu & Yao 2013).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis import sequential
from iostudy.analysis.comparison import Comparison, compare_ratios
from iostudy.analysis.distributions import t_cdf
from iostudy.analysis.rule import Rule
from iostudy.analysis.verdict import Verdict

Array = NDArray[np.float64]


@dataclass(frozen=True)
class EffectSeries:
    """The estimates of an effect by block: log-ratios, positive where better."""

    ratios: Array
    higher_is_better: bool


@dataclass(frozen=True)
class Effect:
    """The result of an effect.

    ``comparison`` has the verdict of its interval, or that of Holm's procedure where only that
    rejects (``by_holm``).
    """

    comparison: Comparison
    by_holm: bool
    tests: HolmTests
    index: int

    @property
    def p(self) -> float:
        """The smallest risk of the study at which the effect would be significant.

        It is adjusted for interim analyses and by Holm; NaN before the first analysis.
        """
        return self.tests.adjusted[self.index]


@dataclass(frozen=True)
class HolmTests:
    """The tests of all effects of a study, by unadjusted p values."""

    single: tuple[float, ...]
    rule: Rule

    @cached_property
    def adjusted(self) -> tuple[float, ...]:
        """The adjusted p values, which reports show: no verdict needs their recursion."""
        return _adjusted_p_values(self.single, self.rule)


def screen_effects(series: Sequence[EffectSeries], rule: Rule) -> tuple[Effect, ...]:
    """Test all effects of a study; ``rule.comparisons`` is their number."""
    compared = [
        compare_ratios(effect.ratios, higher_is_better=effect.higher_is_better, rule=rule)
        for effect in series
    ]
    tests = HolmTests(
        tuple(_single_look_p_value(comparison, rule) for comparison in compared), rule
    )
    rejected = holm(tests.single, rule)
    return tuple(
        _effect(Effect(comparison, is_rejected, tests, index))
        for index, (comparison, is_rejected) in enumerate(zip(compared, rejected, strict=True))
    )


def _effect(tested: Effect) -> Effect:
    comparison = tested.comparison
    if not tested.by_holm or comparison.verdict is not Verdict.INCONCLUSIVE:
        return replace(tested, by_holm=False)
    word = Verdict.BETTER if comparison.estimate > 0 else Verdict.WORSE
    return replace(tested, comparison=replace(comparison, verdict=word, blocks_needed=None))


def _single_look_p_value(comparison: Comparison, rule: Rule) -> float:
    """The two-sided p value, unadjusted for interim analyses; NaN before the first one."""
    if comparison.blocks < rule.min_blocks:
        return math.nan
    if not comparison.sd:
        return float(comparison.estimate == 0)
    t = comparison.estimate / (comparison.sd / math.sqrt(comparison.blocks))
    return 2 * float(t_cdf(comparison.blocks - 1, -abs(t)))


def holm(single: Sequence[float], rule: Rule) -> tuple[bool, ...]:
    """Return the effects that Holm's procedure rejects, by unadjusted p values; NaN never."""
    rejected = [False] * len(single)
    for step, index in enumerate(_by_significance(single)):
        level = replace(rule, comparisons=rule.comparisons - step).repeated_alpha(rule.max_blocks)
        if not single[index] <= level:
            break
        rejected[index] = True
    return tuple(rejected)


def _adjusted_p_values(single: Sequence[float], rule: Rule) -> tuple[float, ...]:
    """The smallest risk at which Holm's procedure rejects each."""
    adjusted, largest = [math.nan] * len(single), 0.0
    for step, index in enumerate(_by_significance(single)):
        if math.isnan(single[index]):
            break
        largest = max(largest, (rule.comparisons - step) * _repeated_p_value(single[index], rule))
        adjusted[index] = min(1.0, largest)
    return tuple(adjusted)


def _by_significance(single: Sequence[float]) -> list[int]:
    return [int(index) for index in np.argsort(single, kind="stable")]


def _repeated_p_value(p: float, rule: Rule) -> float:
    """The probability of a p value at most ``p`` at any interim analysis."""
    analyses = rule.max_blocks - rule.min_blocks + 1
    if analyses == 1 or not 0 < p < 1:
        return p
    crossing = sequential.crossing_probability(rule.min_blocks, rule.max_blocks, p)
    # Bounded by one analysis and their sum: the error of the recursion exceeds a p of 1e-9.
    return min(max(crossing, p), analyses * p)
