"""Decisions of paired comparisons by repeated tests of the typical difference.

Each analysis asks whether the typical difference lies above or below 0, -margin and +margin. The
test is that of `iostudy.analysis.normal_scores` where the differences can reach its level, and
Student's t before. The functions decide many studies at once, so that simulations use the code
that decides real ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis import normal_scores
from iostudy.analysis.boundaries import FUTILITY, predictive_probability
from iostudy.analysis.distributions import Array, Flags
from iostudy.analysis.paired import Interval, t_bounds
from iostudy.analysis.rule import Rule
from iostudy.analysis.slow_runs import is_slow, most_slow_runs
from iostudy.analysis.spending import AnalysisMethod
from iostudy.analysis.verdict import Verdict

MIN_ORDERS = 2
"""Blocks in which each of two configurations must run before the other, for any verdict."""


def count_missing_orders(after: Flags) -> NDArray[np.int64]:
    """Count the blocks so far in which one of two still has to run first; rows are studies."""
    seconds = np.cumsum(after, axis=-1)
    firsts = np.arange(1, after.shape[-1] + 1) - seconds
    return np.asarray(np.maximum(MIN_ORDERS - np.minimum(seconds, firsts), 0))


def is_balanced(after: Flags) -> Flags:
    """Whether each of two ran before the other in enough blocks so far; rows are studies."""
    return np.asarray(count_missing_orders(after) == 0)


def has_rare_slow_runs(
    baseline: Array,
    other: Array,
    rule: Rule,
    *,
    lost: NDArray[np.int64] | None = None,
    since: int = 0,
) -> Flags:
    """Whether slow runs of both are rarer than ``rule.rare`` so far; rows are studies.

    Both failed in so many ``lost`` blocks before each. Only the analyses after ``since`` blocks
    have a value.
    """
    assert rule.rare is not None
    rare = np.zeros(baseline.shape, dtype=bool)
    for count in rule.boundaries_of(baseline.shape[-1]).looks:
        if since < count <= baseline.shape[-1]:
            failed = [0] * len(baseline) if lost is None else map(int, lost[:, count - 1])
            level = rule.risk_spent(count)
            most = [most_slow_runs(count + more, rule.rare, level) - more for more in failed]
            slow = (is_slow(x[:, :count], rule.margin).sum(axis=-1) for x in (baseline, other))
            rare[:, count - 1] = np.max(list(slow), axis=0) <= most
    return rare


@dataclass(frozen=True)
class Outcomes:
    """The end of each study, or its state: arrays with an entry a study.

    ``blocks`` are those of the last analysis that it took part in, or all before the first.
    ``sides`` are the blocks at which it was first shown not to be worse (first row), and not to be
    better; 0 if it is not.
    """

    words: NDArray[np.str_]
    blocks: NDArray[np.int64]
    sides: NDArray[np.int64]
    futile: Flags

    @classmethod
    def begin(cls, studies: int) -> Outcomes:
        """Return the state before the first block."""
        return cls(
            np.full(studies, str(Verdict.INCONCLUSIVE), dtype=_WORD),
            np.zeros(studies, dtype=np.int64),
            np.zeros((2, studies), dtype=np.int64),
            np.zeros(studies, dtype=bool),
        )

    def take(self, rows: NDArray[np.intp]) -> Outcomes:
        """Return those of some studies."""
        return Outcomes(*(values[..., rows] for values in vars(self).values()))

    def put(self, rows: NDArray[np.intp], others: Outcomes) -> Outcomes:
        """Return them with those of some studies replaced."""
        changed = Outcomes(*(values.copy() for values in vars(self).values()))
        changed.words[rows], changed.blocks[rows] = others.words, others.blocks
        changed.sides[:, rows], changed.futile[rows] = others.sides, others.futile
        return changed

    @property
    def not_worse(self) -> Flags:
        """Whether each is not worse, whatever its verdict."""
        return np.asarray(self.sides[0] > 0)


def decide(
    ratios: Array,
    rule: Rule,
    *,
    ready: Flags | None = None,
    rare: Flags | None = None,
    before: Outcomes | None = None,
) -> Outcomes:
    """Decide studies (rows) by their paired log-ratios; each ends at its first final verdict.

    A comparison that may be continued does not end when it is futile: whether it got further
    blocks was decided by whoever continued the study. A one-sided verdict stays, and both of them
    are equivalence. No verdict is given at an analysis that is not ``ready``, and none of
    equivalence or of one side that is not ``rare``. A study with one level has the verdict of its
    last analysis, as a screening needs it.

    ``before`` are the outcomes of the same studies with fewer blocks, by several levels. The
    result is the same without them, but repeats their analyses.
    """
    studies, given = ratios.shape
    boundaries = rule.boundaries_of(given)
    if before is None:
        before = Outcomes.begin(studies)
    words, blocks, sides, futile = (values.copy() for values in vars(before).values())
    ends_if_futile = not rule.continuation.stages
    # Those that are open have all taken part in the same analyses.
    since = blocks.max(initial=0)
    looks = [index for index, count in enumerate(boundaries.looks) if since < count <= given]
    for index in looks[-1:] if rule.method is AnalysisMethod.CONSTANT_LEVEL else looks:
        open_ = np.flatnonzero(~(np.isin(words, _FINAL_WORDS) | (futile & ends_if_futile)))
        if not len(open_):
            break
        count = boundaries.looks[index]
        open_ratios = ratios[open_, :count]
        may_speak = np.ones(len(open_), dtype=bool) if ready is None else ready[open_, count - 1]
        near = may_speak if rare is None else may_speak & rare[open_, count - 1]
        inside = near & exceeds(open_ratios, -rule.delta, boundaries.equivalence[index], rule)
        sides[:, open_] = np.where(inside & (sides[:, open_] == 0), count, sides[:, open_])
        apart = may_speak & exceeds(open_ratios, 0.0, boundaries.difference[index], rule)
        words[open_] = _choose_words(sides[:, open_] > 0, apart, one_sided=rule.by_scores)
        blocks[open_] = count
        futile[open_] |= _is_futile(open_ratios, words[open_], rule)
    futile &= ~np.isin(words, _FINAL_WORDS)
    return Outcomes(words, np.where(blocks < boundaries.looks[0], given, blocks), sides, futile)


_WORD = f"<U{max(map(len, Verdict))}"

_FINAL_WORDS = [str(verdict) for verdict in Verdict if verdict.is_final]


def _choose_words(inside: Flags, apart: Flags, *, one_sided: bool) -> NDArray[np.str_]:
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


def exceeds(ratios: Array, limit: float, level: float, rule: Rule) -> Flags:
    """Whether the typical difference of each study exceeds the limit, at a two-sided level.

    The first row says whether it is above ``limit``, the second whether it is below ``-limit``.
    """
    limit += rule.bias
    if rule.by_scores and normal_scores.is_attainable(ratios.shape[-1], level):
        return normal_scores.exceeds(ratios, limit, level)
    low, high = _t_ends(ratios, level)
    return np.array([low > limit, high < -limit])


def interval_ends(ratios: Array, level: float, rule: Rule) -> tuple[Array, Array]:
    """Return the ends of the interval of each study (row) at a two-sided level."""
    if rule.by_scores and normal_scores.is_attainable(ratios.shape[-1], level):
        low, high = normal_scores.interval_ends(ratios, level)
    else:
        low, high = _t_ends(ratios, level)
    return low - rule.bias, high + rule.bias


def estimate_rows(ratios: Array, level: float, rule: Rule) -> Array:
    """Return the typical difference of each study (row), and both ends of its interval."""
    if rule.by_scores and normal_scores.is_attainable(ratios.shape[-1], level):
        centre, low, high = normal_scores.estimate(ratios, level)
        return np.array([centre, low - rule.bias, high + rule.bias])
    if not ratios.shape[-1]:
        centre = np.full(len(ratios), np.nan)
    elif rule.by_scores:
        centre = normal_scores.centre(ratios)
    else:
        # Failed runs on both sides leave no mean.
        with np.errstate(invalid="ignore"):
            centre = ratios.mean(axis=-1)
    return np.array([centre, *interval_ends(ratios, level, rule)])


def _t_ends(ratios: Array, level: float) -> tuple[Array, Array]:
    """The t interval of each study; infinite after a failed run, and for n < 2."""
    count = ratios.shape[-1]
    known: Flags = np.asarray(np.isfinite(ratios).all(axis=-1))
    if count < 2:
        return np.full(len(ratios), -np.inf), np.full(len(ratios), np.inf)
    finite = np.where(known[:, None], ratios, 0.0)
    low, high = t_bounds(finite.mean(axis=-1), finite.std(axis=-1, ddof=1), count, level)
    return np.where(known, low, -np.inf), np.where(known, high, np.inf)


def estimate_shown(ratios: Array, outcomes: Outcomes, rule: Rule) -> Array:
    """Return the typical difference of each study at its end, and both ends of its interval.

    The interval is that of difference, with an end of equivalence where the verdict is on that
    side. The interval of two one-sided tests contains zero (Hsu, Hwang, Liu & Ruberg 1994): between
    zero and the end that a one-sided test gives, it holds the truth as often as that test is right.
    An end of the interval of difference is used where that is nearer.
    """
    shown = np.empty((3, len(ratios)))
    for count in np.unique(outcomes.blocks):
        rows = np.flatnonzero(outcomes.blocks == count)
        level = rule.boundaries_of(count).level(count, equivalence=False)
        shown[:, rows] = estimate_rows(ratios[rows, :count], level, rule)
    _, low, high = shown
    for side, one_sided in enumerate((Verdict.NOT_WORSE, Verdict.NOT_BETTER)):
        is_shown = np.isin(outcomes.words, [str(Verdict.EQUIVALENT), str(one_sided)])
        for count in np.unique(outcomes.sides[side, is_shown]):
            rows = np.flatnonzero(is_shown & (outcomes.sides[side] == count))
            # A one-sided verdict has the level of equivalence.
            level = rule.boundaries_of(count).level(count, equivalence=True)
            ends = interval_ends(ratios[rows, :count], level, rule)
            if side == 0:
                low[rows] = np.maximum(low[rows], np.minimum(0.0, ends[0]))
            else:
                high[rows] = np.minimum(high[rows], np.maximum(0.0, ends[1]))
    return shown


def _is_futile(ratios: Array, words: NDArray[np.str_], rule: Rule) -> Flags:
    """Whether the rest of the blocks would hardly add a verdict to each study."""
    count = ratios.shape[-1]
    open_: Flags = ~np.isin(words, _FINAL_WORDS) & np.isfinite(ratios).all(axis=-1)
    if (
        not open_.any()
        or rule.method is AnalysisMethod.CONSTANT_LEVEL
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


def estimate_alone(ratios: Array, rule: Rule) -> tuple[float, Interval]:
    """Return the typical difference of these ratios, and its interval as reports show it.

    It is that of one analysis, after the last of them.
    """
    count = len(ratios)
    level = rule.boundaries_of(count).level(count, equivalence=True)
    inside = exceeds(ratios[None], -rule.delta, level, rule)
    words = _choose_words(inside, np.zeros_like(inside), one_sided=rule.by_scores)
    at_end = Outcomes(words, np.array([count]), inside * count, np.zeros(1, dtype=bool))
    estimate, low, high = map(float, estimate_shown(ratios[None], at_end, rule)[:, 0])
    return estimate, Interval(low, high)
