"""Verdicts of paired comparisons by repeated tests and an equivalence margin.

Each analysis asks whether the typical difference lies above or below 0, -margin and +margin. The
test is that of `iostudy.analysis.normal_scores` where the differences can reach its level, and
Student's t before. The functions decide many studies at once, so that simulations use the code
that decides real ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iostudy.analysis import normal_scores, sequential
from iostudy.analysis.boundaries import (
    SPENT,
    AnalysisMethod,
    Boundaries,
    Continuation,
    build_boundaries,
)
from iostudy.analysis.distributions import normal_quantile, t_quantile
from iostudy.analysis.futility import FUTILITY, predictive_probability
from iostudy.analysis.paired import (
    UNKNOWN,
    Array,
    Flags,
    Interval,
    PairedRuns,
    as_fraction,
    t_bounds,
)
from iostudy.analysis.slow_runs import SlowRuns, find_slow_runs, is_slow, most_slow_runs

POWER = 0.8
MIN_ORDERS = 2
"""Blocks in which each of two configurations must run before the other, for any verdict."""


class Verdict(StrEnum):
    """The result of a comparison of a configuration with the baseline."""

    EQUIVALENT = "equivalent"
    BETTER = "better"
    WORSE = "worse"
    NOT_WORSE = "not worse"
    NOT_BETTER = "not better"
    INCONCLUSIVE = "inconclusive"

    @property
    def is_final(self) -> bool:
        """Whether no further block can change it."""
        return self in _FINAL

    @property
    def two_sided(self) -> Verdict:
        """Itself if it is final, else inconclusive: a one-sided verdict decides no difference."""
        return self if self.is_final else Verdict.INCONCLUSIVE


_FINAL = frozenset({Verdict.EQUIVALENT, Verdict.BETTER, Verdict.WORSE})


@dataclass(frozen=True)
class Rule:
    """The decision rule. ``margin`` and ``risk`` are fractions; ``risk`` covers the whole study.

    ``comparisons`` is the number of verdicts in the study. They share the risk equally
    (Bonferroni). ``bias`` is the largest bias of an estimate, a log-ratio; every interval is wider
    by it on both sides. ``rare`` is the largest share of slow runs of a configuration that is
    equivalent or not worse; None allows any. ``max_blocks`` are the planned blocks, which the
    ``continuation`` extends.
    """

    margin: float
    risk: float
    min_blocks: int
    max_blocks: int
    comparisons: int = 1
    method: AnalysisMethod = AnalysisMethod.NORMAL_SCORES
    bias: float = 0.0
    rare: float | None = None
    continuation: Continuation = SPENT

    @property
    def delta(self) -> float:
        """The margin as a log-ratio."""
        return math.log1p(self.margin)

    @property
    def share(self) -> float:
        """The risk of one comparison."""
        return self.risk / self.comparisons

    @property
    def boundaries(self) -> Boundaries:
        """The analyses of the planned blocks with the levels of their intervals."""
        return self.boundaries_of(self.max_blocks)

    def boundaries_of(self, blocks: int) -> Boundaries:
        """Return the analyses up to the end of the stage to which so many blocks belong."""
        stage = self.continuation.find_stage(blocks, self.max_blocks)
        return self._boundaries_of_stage(stage)

    def _boundaries_of_stage(self, stage: int) -> Boundaries:
        planned = self.min_blocks, self.max_blocks
        return build_boundaries(self.method, *planned, self.share, self.continuation, stage)

    @property
    def longest(self) -> int:
        """The blocks at the end of the last stage."""
        return self.continuation.ends(self.max_blocks)[-1]

    def repeated_alpha(self, blocks: int) -> float:
        """Return a*, the level of intervals that no comparison stops by, after so many blocks.

        It is the same for all numbers of blocks of a stage. The stages share the risk (Bonferroni).
        """
        stage = self.continuation.find_stage(blocks, self.max_blocks)
        ends = self.min_blocks - 1, *self.continuation.ends(self.max_blocks)
        risks = 0.0, *self.continuation.risks(self.share)
        first = self.min_blocks if stage == 0 else ends[stage] + 1
        return sequential.repeated_alpha(first, ends[stage + 1], risks[stage + 1] - risks[stage])

    @property
    def by_scores(self) -> bool:
        """Whether normal scores decide, and not Student's t alone as in earlier ledgers."""
        return self.method is AnalysisMethod.NORMAL_SCORES

    def risk_spent(self, blocks: int) -> float:
        """Return the part of a comparison's risk that is spent after so many blocks."""
        return self.continuation.risk_spent(blocks, self.max_blocks, self.share)

    def detectable_difference(self, blocks: int) -> float:
        """Return the difference, in standard deviations, that n >= 2 blocks find with power 0.8.

        (t(1 - a/2, n-1) + t(power, n-1)) / sqrt(n) with the level a of the last analysis of the
        stage. As n grows, it becomes the usual z(1 - a/2) + z(power) standard errors; with z alone
        a study of 10 blocks has a power of 0.70 only.
        """
        quantile = -float(t_quantile(blocks - 1, self._last_level(blocks) / 2))
        return (quantile + float(t_quantile(blocks - 1, POWER))) / math.sqrt(blocks)

    def required_blocks(self, sd: float, *, at_least: int = 0) -> int:
        """Return the fewest blocks that find a difference of the margin with power 0.8.

        ``sd`` is that of the paired log-ratios. The result may exceed ``longest``. In each stage
        the search starts at ((z(1 - a/2) + z(power)) * sd / delta)^2, a few blocks below.
        """
        found = self.delta - self.bias
        needed = max(at_least, self.min_blocks)
        for end in self.continuation.ends(self.max_blocks):
            errors = normal_quantile(POWER) - normal_quantile(self._last_level(end) / 2)
            needed = max(needed, math.ceil((errors * sd / found) ** 2))
            while needed <= end or end == self.longest:
                if self.detectable_difference(needed) * sd <= found:
                    return needed
                needed += 1
        raise AssertionError("the last stage has no end here")

    def _last_level(self, blocks: int) -> float:
        return float(self.boundaries_of(blocks).difference[-1])


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

    ``estimate`` is the typical difference: where T is zero, in earlier ledgers the mean. ``sd`` is
    that of the log-ratios; NaN with fewer than two, and after a failed run. ``blocks_needed`` is
    the total number of blocks that would probably decide an inconclusive comparison, more than
    ``max_blocks`` for a futile one; None where no standard deviation is known. ``fragile``:
    Student's t does not give the final verdict. ``futile``: the rest of the blocks would hardly
    add a verdict, so that the comparison ends. ``is_not_worse`` is the one-sided result, whatever
    the verdict. ``slow`` and ``baseline_slow`` are the slow runs of both.
    """

    blocks: int
    sd: float
    blocks_needed: int | None
    fragile: bool
    futile: bool = False
    is_not_worse: bool = False
    slow: SlowRuns | None = None
    baseline_slow: SlowRuns | None = None

    @property
    def is_open(self) -> bool:
        """Whether further blocks may still decide it; after the last one it stays as it is."""
        return not (self.verdict.is_final or self.futile)


def compare(
    baseline: Sequence[float],
    other: Sequence[float],
    *,
    higher_is_better: bool,
    rule: Rule,
    after: Sequence[bool] | None = None,
) -> Comparison:
    """Compare the figures of two configurations, block by block in the same order.

    NaN is a failed run. ``after`` says in which blocks the other ran after the baseline. Raises
    ValueError for figures that cannot be paired or are not positive (see PairedRuns).
    """
    runs = PairedRuns.from_figures(baseline, other, higher_is_better=higher_is_better, after=after)
    return compare_runs(runs, higher_is_better=higher_is_better, rule=rule)


def compare_runs(runs: PairedRuns, *, higher_is_better: bool, rule: Rule) -> Comparison:
    """Compare two configurations by their paired runs."""
    count = len(runs.other)
    own = runs.first(rule.boundaries_of(count).last_look(count))
    ready = is_balanced(own.after[None]) if rule.by_scores and own.after is not None else None
    rare = (
        has_rare_slow_runs(own.baseline[None], own.other[None], rule)
        if rule.rare is not None
        else None
    )
    comparison = _compare(own.differences, rule, ready, rare, higher_is_better=higher_is_better)
    used = own.first(comparison.blocks)
    slow, baseline_slow = (
        find_slow_runs(x, rule.margin, rule.risk) for x in (used.other, used.baseline)
    )
    return replace(comparison, slow=slow, baseline_slow=baseline_slow)


def compare_ratios(ratios: Array, *, higher_is_better: bool, rule: Rule) -> Comparison:
    """Compare two configurations by their paired log-ratios, one per block, positive if better.

    Blocks after the last analysis have to wait for the next one.
    """
    used = ratios[: rule.boundaries_of(len(ratios)).last_look(len(ratios))]
    return _compare(used, rule, higher_is_better=higher_is_better)


def _compare(
    ratios: Array,
    rule: Rule,
    ready: Flags | None = None,
    rare: Flags | None = None,
    *,
    higher_is_better: bool,
) -> Comparison:
    ended = decide(ratios[None], rule, ready=ready, rare=rare)
    count, futile = int(ended.blocks[0]), bool(ended.futile[0])
    verdict = Verdict(str(ended.words[0]))
    interval = Interval(float(ended.low[0]), float(ended.high[0]))
    used = ratios[:count]
    sd = float(np.std(used, ddof=1)) if count > 1 and np.isfinite(used).all() else math.nan
    # A futile comparison needs more blocks than the study has.
    at_least = 1 + (rule.max_blocks if futile else count)
    is_known = verdict.is_final or math.isnan(sd)
    return Comparison(
        blocks=count,
        estimate=estimate(used, rule),
        sd=sd,
        interval=interval,
        verdict=verdict,
        by_margin=exceeds_margin(verdict, interval, rule.delta),
        blocks_needed=None if is_known else rule.required_blocks(sd, at_least=at_least),
        fragile=_is_fragile(used, verdict, rule),
        futile=futile,
        is_not_worse=bool(ended.not_worse[0]),
        higher_is_better=higher_is_better,
    )


def estimate(ratios: Array, rule: Rule) -> float:
    """Return the typical difference of paired log-ratios; NaN for none."""
    if not len(ratios):
        return math.nan
    return float(normal_scores.centre(ratios[None])[0] if rule.by_scores else np.mean(ratios))


def is_balanced(after: Flags) -> Flags:
    """Whether each of two ran before the other in enough blocks so far; rows are studies."""
    seconds = np.cumsum(after, axis=-1)
    firsts = np.arange(1, after.shape[-1] + 1) - seconds
    return np.asarray(np.minimum(seconds, firsts) >= MIN_ORDERS)


def has_rare_slow_runs(baseline: Array, other: Array, rule: Rule) -> Flags:
    """Whether slow runs of both are rarer than ``rule.rare`` so far; rows are studies.

    Only the analyses have a value.
    """
    assert rule.rare is not None
    rare = np.zeros(baseline.shape, dtype=bool)
    for count in rule.boundaries_of(baseline.shape[-1]).looks:
        if count <= baseline.shape[-1]:
            most = most_slow_runs(count, rule.rare, rule.risk_spent(count))
            slow = (is_slow(x[:, :count], rule.margin).sum(axis=-1) for x in (baseline, other))
            rare[:, count - 1] = np.max(list(slow), axis=0) <= most
    return rare


@dataclass(frozen=True)
class Outcomes:
    """The end of each study, or its state: arrays with an entry a study.

    ``low`` and ``high`` are the intervals that reports show.
    """

    words: NDArray[np.str_]
    blocks: NDArray[np.int64]
    low: Array
    high: Array
    futile: Flags
    not_worse: Flags


def decide(
    ratios: Array, rule: Rule, *, ready: Flags | None = None, rare: Flags | None = None
) -> Outcomes:
    """Decide studies (rows) by their paired log-ratios; each ends at its first final verdict.

    A comparison that may be continued does not end when it is futile: whether it got further
    blocks was decided by whoever continued the study. A one-sided verdict stays, and both of them
    are equivalence. No verdict is given at an analysis that is not ``ready``, and none of
    equivalence or of one side that is not ``rare``. A study with one level has the verdict of its
    last analysis, as a screening needs it.
    """
    studies, given = ratios.shape
    looks = [count for count in rule.boundaries_of(given).looks if count <= given]
    blocks = np.full(studies, given)
    words = np.full(studies, str(Verdict.INCONCLUSIVE), dtype=_WORD)
    sides = np.zeros((2, studies), dtype=np.int64)
    futile = np.zeros(studies, dtype=bool)
    by_last = rule.method is AnalysisMethod.CONSTANT_LEVEL
    ends_if_futile = not rule.continuation.stages
    for count in looks[-1:] if by_last else looks:
        open_ = np.flatnonzero(~(np.isin(words, _FINAL_WORDS) | (futile & ends_if_futile)))
        own = ratios[open_, :count]
        may_speak = np.ones(len(open_), dtype=bool) if ready is None else ready[open_, count - 1]
        near = may_speak if rare is None else may_speak & rare[open_, count - 1]
        for side, signed in enumerate((own, -own)):
            inside = near & exceeds(signed, -rule.delta, _level(rule, count, sided=True), rule)
            sides[side, open_] = np.where(
                inside & (sides[side, open_] == 0), count, sides[side, open_]
            )
        level = _level(rule, count, sided=False)
        apart = [may_speak & exceeds(signed, 0.0, level, rule) for signed in (own, -own)]
        words[open_] = _choose_words(sides[:, open_] > 0, apart, one_sided=rule.by_scores)
        blocks[open_] = count
        futile[open_] |= _is_futile(own, words[open_], rule)
    low, high = _shown_bounds(ratios, blocks, words, sides, rule)
    futile &= ~np.isin(words, _FINAL_WORDS)
    return Outcomes(words, blocks, low, high, futile, sides[0] > 0)


_WORD = f"<U{max(map(len, Verdict))}"
_FINAL_WORDS = [str(verdict) for verdict in _FINAL]


def _choose_words(inside: Flags, apart: Sequence[Flags], *, one_sided: bool) -> NDArray[np.str_]:
    """The verdicts, in the order of precedence."""
    conditions = {
        Verdict.EQUIVALENT: inside[0] & inside[1],
        Verdict.BETTER: apart[0],
        Verdict.WORSE: apart[1],
        Verdict.NOT_WORSE: inside[0] & one_sided,
        Verdict.NOT_BETTER: inside[1] & one_sided,
    }
    words = [np.str_(verdict) for verdict in conditions]
    return np.select(list(conditions.values()), words, default=np.str_(Verdict.INCONCLUSIVE))


def _level(rule: Rule, count: int, *, sided: bool) -> float:
    """The level of an analysis: that of equivalence for a one-sided verdict."""
    boundaries = rule.boundaries_of(count)
    level = boundaries.equivalence_level if sided else boundaries.difference_level
    return float(level(count))


def exceeds(ratios: Array, limit: float, level: float, rule: Rule) -> Flags:
    """Whether the typical difference of each study is above the limit, at a two-sided level."""
    limit += rule.bias
    if rule.by_scores and normal_scores.is_attainable(ratios.shape[-1], level):
        return normal_scores.exceeds(ratios, limit, level)
    return np.asarray(_t_ends(ratios, level)[0] > limit)


def interval_ends(ratios: Array, level: float, rule: Rule) -> tuple[Array, Array]:
    """Return the ends of the interval of each study (row) at a two-sided level."""
    if rule.by_scores and normal_scores.is_attainable(ratios.shape[-1], level):
        low, high = normal_scores.interval_ends(ratios, level)
    else:
        low, high = _t_ends(ratios, level)
    return low - rule.bias, high + rule.bias


def _t_ends(ratios: Array, level: float) -> tuple[Array, Array]:
    """The t interval of each study; infinite after a failed run, and for n < 2."""
    count = ratios.shape[-1]
    known: Flags = np.asarray(np.isfinite(ratios).all(axis=-1))
    if count < 2:
        return np.full(len(ratios), -np.inf), np.full(len(ratios), np.inf)
    finite = np.where(known[:, None], ratios, 0.0)
    low, high = t_bounds(finite.mean(axis=-1), finite.std(axis=-1, ddof=1), count, level)
    return np.where(known, low, -np.inf), np.where(known, high, np.inf)


def _shown_bounds(
    ratios: Array,
    blocks: NDArray[np.int64],
    words: NDArray[np.str_],
    sides: NDArray[np.int64],
    rule: Rule,
) -> tuple[Array, Array]:
    """The intervals of difference, with an end of equivalence where the verdict is on that side.

    The interval of two one-sided tests contains zero (Hsu, Hwang, Liu & Ruberg 1994): between zero
    and the end that a one-sided test gives, it holds the truth as often as that test is right. An
    end of the interval of difference is used where that is nearer.
    """
    low, high = np.full(len(ratios), -np.inf), np.full(len(ratios), np.inf)
    for count in np.unique(blocks[blocks > 1]):
        own = np.flatnonzero(blocks == count)
        level = _level(rule, count, sided=False)
        low[own], high[own] = interval_ends(ratios[own, :count], level, rule)
    for side, one_sided in enumerate((Verdict.NOT_WORSE, Verdict.NOT_BETTER)):
        shown = np.isin(words, [str(Verdict.EQUIVALENT), str(one_sided)])
        for count in np.unique(sides[side, shown]):
            own = np.flatnonzero(shown & (sides[side] == count))
            ends = interval_ends(ratios[own, :count], _level(rule, count, sided=True), rule)
            if side == 0:
                low[own] = np.maximum(low[own], np.minimum(0.0, ends[0]))
            else:
                high[own] = np.minimum(high[own], np.maximum(0.0, ends[1]))
    return low, high


def _is_futile(ratios: Array, words: NDArray[np.str_], rule: Rule) -> Flags:
    """Whether the rest of the blocks would hardly add a verdict to each study."""
    count = ratios.shape[-1]
    open_: Flags = ~np.isin(words, _FINAL_WORDS) & np.isfinite(ratios).all(axis=-1)
    if (
        rule.method is AnalysisMethod.CONSTANT_LEVEL
        or not rule.min_blocks <= count < rule.max_blocks
    ):
        return np.zeros(len(ratios), dtype=bool)
    usable = np.where(open_[:, None], ratios, 0.0)
    mean, sd = usable.mean(axis=-1), usable.std(axis=-1, ddof=1)
    open_ &= sd > 0
    probability = predictive_probability(
        mean,
        np.where(open_, sd, 1.0),
        count,
        rule.boundaries,
        rule.delta,
        rule.bias,
        one_sided=(words == str(Verdict.INCONCLUSIVE)) & rule.by_scores,
    )
    return np.asarray(open_ & (probability < FUTILITY))


def _is_fragile(ratios: Array, verdict: Verdict, rule: Rule) -> bool:
    """Whether Student's t does not give a final verdict; normal scores, if t decided.

    A comparison stops as soon as its interval barely suffices. At the same level the other test
    would barely fail in 40 % of normal samples. It therefore has the levels of a single analysis.
    """
    if not np.isfinite(ratios).all():
        return False
    other = AnalysisMethod.ERROR_SPENDING if rule.by_scores else AnalysisMethod.NORMAL_SCORES
    level = 2 * rule.share if verdict is Verdict.EQUIVALENT else rule.share
    ends = interval_ends(ratios[None], level, replace(rule, method=other))
    low, high = (float(end[0]) for end in ends)
    match verdict:
        case Verdict.BETTER:
            return low <= 0
        case Verdict.WORSE:
            return high >= 0
        case Verdict.EQUIVALENT:
            return max(-low, high) >= rule.delta
        case _:
            return False


def deciding_interval(ratios: Array, rule: Rule) -> Interval:
    """Return the interval of these ratios as reports show it; infinite for n < 2.

    It is that of one analysis, after the last of them.
    """
    count = len(ratios)
    if count < 2:
        return UNKNOWN
    pair, level = (ratios[None], -ratios[None]), _level(rule, count, sided=True)
    inside = np.array([exceeds(own, -rule.delta, level, rule) for own in pair])
    apart = [np.zeros(1, dtype=bool)] * 2
    words = _choose_words(inside, apart, one_sided=rule.by_scores)
    low, high = _shown_bounds(pair[0], np.array([count]), words, inside * count, rule)
    return Interval(float(low[0]), float(high[0]))


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


def exceeds_margin(verdict: Verdict, interval: Interval, delta: float) -> bool:
    """Whether the whole interval lies beyond the margin, of which ``delta`` is the log-ratio."""
    match verdict:
        case Verdict.BETTER:
            return interval.low > delta
        case Verdict.WORSE:
            return interval.high < -delta
        case _:
            return False
