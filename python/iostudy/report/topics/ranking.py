"""Combined ranking over all workloads, with the rank range of each configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from pydantic import FiniteFloat

from iostudy.analysis.paired import as_fraction
from iostudy.analysis.ranking import (
    IntervalEstimates,
    PairwiseOrder,
    QualitativeInteraction,
    Ranking,
)
from iostudy.analysis.verdict import Verdict
from iostudy.ledger.rows import MeasuredRow
from iostudy.report.base import Span, Value
from iostudy.report.formatting import (
    build_span,
    finite,
    format_against,
    format_change_interval,
    format_count,
    format_signed_change,
    join_words,
)
from iostudy.report.names import find_factor_noun, find_single_factor, name_configuration
from iostudy.report.section import Section, TextTable
from iostudy.report.topics.sentences import MOST_NAMED
from iostudy.results.comparisons import rank_configurations
from iostudy.study.model import Study
from iostudy.units import format_percent

if TYPE_CHECKING:
    from iostudy.report.values import Report


class RankRange(Value):
    """Range of the possible ranks of a configuration."""

    configuration: str
    """Label of the configuration."""
    best_rank: int
    """Best possible rank, from 1."""
    worst_rank: int
    """Worst possible rank."""


class RankedConfiguration(RankRange):
    """One configuration over all workloads.

    Fractions are changes of performance; positive is better.
    """

    baseline: bool
    """Whether it is the baseline."""
    from_mean: FiniteFloat | None
    """Change against the geometric mean of all configurations; null if most runs failed."""
    from_mean_interval: Span | None
    """Confidence interval of ``from_mean``; null if unknown."""
    change: FiniteFloat | None
    """Change against the baseline; null for the baseline, and if most runs failed."""
    interval: Span | None
    """Confidence interval of ``change``; null if unknown."""
    worst_workload: str
    """The workload with the lowest value relative to the geometric mean."""
    worst_from_mean: FiniteFloat | None
    """Change against the geometric mean on that workload; null if most runs failed."""


class RankedPair(Value):
    """Comparison of two configurations over all workloads."""

    configuration: str
    """Label of the first configuration."""
    other: str
    """Label of the second one."""
    change: FiniteFloat | None
    """Change of performance from ``other`` to ``configuration``, as a fraction; null if most runs
    failed."""
    interval: Span | None
    """Confidence interval of the change; null if unknown."""
    verdict: Verdict
    """Verdict on ``configuration`` against ``other``."""


class RankReversal(Value):
    """A pair whose order depends on the workload."""

    configuration: str
    """Label of the first configuration."""
    other: str
    """Label of the second one."""
    better_on: tuple[str, ...]
    """Workloads on which ``configuration`` is better."""
    worse_on: tuple[str, ...]
    """Workloads on which ``configuration`` is worse."""


class WorkloadRanking(Value):
    """Ranks on one workload, and its weight in the combined ranking."""

    workload: str
    """Label of the workload."""
    weight: FiniteFloat
    """Weight in the combined ranking, as a fraction of all weights."""
    ranks: tuple[RankRange, ...]
    """Rank ranges of all configurations."""


class RankingReport(Value):
    """Combined ranking over all workloads."""

    answer: str
    """The ranking in a sentence."""
    best: tuple[str, ...]
    """Configurations that may be the best: none is shown to be better than them."""
    single_order: bool
    """False if another configuration is better than one of the best on some workload."""
    ranked: tuple[RankedConfiguration, ...]
    """All configurations, the best first."""
    pairs: tuple[RankedPair, ...]
    """All pairs of configurations."""
    crossings: tuple[RankReversal, ...]
    """Pairs whose order depends on the workload."""
    workloads: tuple[WorkloadRanking, ...]
    """The ranking of each workload."""


def summarize_ranking(
    noun: str,
    workloads: Sequence[str],
    best: Sequence[str],
    labels: Sequence[str],
    crossings: Sequence[RankReversal],
    factor: str = "",
) -> str:
    """The best of all ``labels`` on all workloads together.

    ``crossings`` are those that leave no single order; ``factor`` is the one that varies.
    """
    together = "both" if len(workloads) == 2 else f"all {len(workloads)}"
    where = f"On {workloads[0]}" if len(workloads) == 1 else f"Over {together} workloads"
    if crossings:
        return f"No single {noun} is best: {format_rank_reversals(crossings, factor)}."
    if len(best) == len(labels):
        return f"{where}, no {noun} is shown to be better than another."
    the_best = "the best" if factor and len(best) <= MOST_NAMED else f"the best {noun}"
    if len(best) == 1:
        return f"{where}, {the_best} is {name_configuration(best[0], factor)}."
    text = f"one of {len(best)}"
    if len(best) <= MOST_NAMED:
        text = join_words([name_configuration(label, factor) for label in best], "or")
    behind = len(labels) - len(best)
    others = "the other is" if behind == 1 else f"the other {behind} are"
    return f"{where}, {the_best} is {text}; {others} worse."


def format_rank_reversals(crossings: Sequence[RankReversal], factor: str = "") -> str:
    """Pairs that change places: ``kyber is better than bfq on writes, and worse on reads``."""
    left = len(crossings) - MOST_NAMED
    more = [f"{format_count(left, 'more pair')}"] if left > 0 else []
    return "; ".join([*(_crossed(each, factor) for each in crossings[:MOST_NAMED]), *more])


def _crossed(crossing: RankReversal, factor: str) -> str:
    first = name_configuration(crossing.configuration, factor)
    second = name_configuration(crossing.other, factor)
    better, worse = (join_words(names) for names in (crossing.better_on, crossing.worse_on))
    return f"{first} is better than {second} on {better}, and worse on {worse}"


def build_ranking(study: Study, rows: Sequence[MeasuredRow]) -> RankingReport | None:
    """Return the ranking of a study; None if verdicts give the order, or with too few blocks."""
    ranking = rank_configurations(study, rows)
    if ranking is None:
        return None
    weights = study.weights
    labels = [configuration.label for configuration in study.choices()]
    workloads = [workload.label for workload in study.workloads]
    crossings = tuple(_crossing(each, labels, workloads) for each in ranking.interactions)
    best = tuple(labels[index] for index in ranking.combined.best)
    return RankingReport(
        answer=summarize_ranking(
            find_factor_noun(study.factors),
            workloads,
            best,
            labels,
            () if ranking.has_single_order else crossings,
            find_single_factor(study),
        ),
        best=best,
        single_order=ranking.has_single_order,
        ranked=_ranked(ranking, labels, workloads),
        pairs=tuple(_pairs(ranking.combined, labels)),
        crossings=crossings,
        workloads=tuple(
            WorkloadRanking(
                workload=workload, weight=weight / sum(weights), ranks=_ranks(order, labels)
            )
            for workload, weight, order in zip(workloads, weights, ranking.by_workload, strict=True)
        ),
    )


def _ranked(
    ranking: Ranking, labels: Sequence[str], workloads: Sequence[str]
) -> tuple[RankedConfiguration, ...]:
    """Return the configurations by rank, ties by their difference from the geometric mean."""
    order = ranking.combined
    found = [
        _ranked_configuration(index, label, ranking, workloads)
        for index, label in enumerate(labels)
    ]
    by_rank = sorted(
        range(len(found)),
        key=lambda index: (
            found[index].best_rank,
            found[index].worst_rank,
            -order.vs_mean.value[index],
        ),
    )
    return tuple(found[index] for index in by_rank)


def _ranked_configuration(
    index: int, label: str, ranking: Ranking, workloads: Sequence[str]
) -> RankedConfiguration:
    order, ranks = ranking.combined, ranking.combined.ranks[index]
    alone = [float(own.vs_mean.value[index]) for own in ranking.by_workload]
    worst = int(np.argmin(alone))
    return RankedConfiguration(
        configuration=label,
        baseline=index == 0,
        best_rank=ranks.best,
        worst_rank=ranks.worst,
        from_mean=finite(as_fraction(float(order.vs_mean.value[index]))),
        from_mean_interval=_span(order.vs_mean, index),
        change=finite(as_fraction(float(order.pairs.value[index, 0]))) if index else None,
        interval=_span(order.pairs, (index, 0)) if index else None,
        worst_workload=workloads[worst],
        worst_from_mean=finite(as_fraction(alone[worst])),
    )


def _span(estimates: IntervalEstimates, place: int | tuple[int, int]) -> Span | None:
    low, high = (as_fraction(float(ends[place])) for ends in (estimates.low, estimates.high))
    return build_span((low, high))


def _ranks(order: PairwiseOrder, labels: Sequence[str]) -> tuple[RankRange, ...]:
    return tuple(
        RankRange(configuration=label, best_rank=ranks.best, worst_rank=ranks.worst)
        for label, ranks in zip(labels, order.ranks, strict=True)
    )


def _pairs(order: PairwiseOrder, labels: Sequence[str]) -> Iterator[RankedPair]:
    """Each pair once, as the later configuration against the earlier."""
    for later, label in enumerate(labels):
        for earlier, other in enumerate(labels[:later]):
            yield RankedPair(
                configuration=label,
                other=other,
                change=finite(as_fraction(float(order.pairs.value[later, earlier]))),
                interval=_span(order.pairs, (later, earlier)),
                verdict=Verdict(str(order.verdicts[later, earlier])),
            )


def _crossing(
    crossing: QualitativeInteraction, labels: Sequence[str], workloads: Sequence[str]
) -> RankReversal:
    return RankReversal(
        configuration=labels[crossing.first],
        other=labels[crossing.second],
        better_on=tuple(workloads[index] for index in crossing.better),
        worse_on=tuple(workloads[index] for index in crossing.worse),
    )


def build_ranking_section(report: Report) -> Section | None:
    """All workloads together, and each alone where they contradict each other."""
    text = report.ranking
    if text is None:
        return None
    alone = _alone(text, report)
    return Section(
        name="ranking",
        title="Combined ranking",
        notes=(*_remarks(text, report), _known(text, report)),
        tables=(_combined(text, report), *((alone,) if alone else ())),
        folded=(_section_pairs(text, report),),
    )


def _known(ranking: RankingReport, report: Report) -> str:
    """Return the notes on the tables."""
    risk = format_percent(report.method.risk)
    over = "" if len(ranking.workloads) == 1 else f" over {_weighted(ranking)}"
    return (
        f"Percentages are changes of performance{over}: positive is better. The geometric mean is "
        "that of all configurations. A rank of 2–3 means the second or the third: configurations "
        "that share a rank are not shown to differ by the margin. All ranks hold together, with an "
        f"error rate of {risk}."
    )


def _weighted(ranking: RankingReport) -> str:
    """``all workloads with equal weights``, or with their weights."""
    if len({workload.weight for workload in ranking.workloads}) == 1:
        return "all workloads with equal weights"
    shares = [f"{own.workload} ({format_percent(own.weight)})" for own in ranking.workloads]
    return f"workloads with their weights, {join_words(shares)}"


def _combined(ranking: RankingReport, report: Report) -> TextTable:
    """A row for each configuration, the best first."""
    heads = (
        report.noun,
        "rank",
        "vs geometric mean",
        format_against(report.baseline),
        *(("worst workload",) if len(ranking.workloads) > 1 else ()),
    )
    return TextTable("", heads, [_row(own, ranking) for own in ranking.ranked], names=1)


def _row(own: RankedConfiguration, ranking: RankingReport) -> tuple[str, ...]:
    change = "" if own.baseline else format_change_interval(own.change, own.interval)
    least = f"{own.worst_workload} ({format_signed_change(own.worst_from_mean)})"
    return (
        own.configuration,
        _rank(own),
        format_change_interval(own.from_mean, own.from_mean_interval),
        change,
        *((least,) if len(ranking.workloads) > 1 else ()),
    )


def _rank(ranks: RankRange) -> str:
    """``2``, or ``2–3`` where it may be either."""
    if ranks.best_rank == ranks.worst_rank:
        return str(ranks.best_rank)
    return f"{ranks.best_rank}–{ranks.worst_rank}"


def _alone(ranking: RankingReport, report: Report) -> TextTable | None:
    """The ranks on each workload; None where these do not contradict each other."""
    if not ranking.crossings:
        return None
    heads = (report.noun, *(own.workload for own in ranking.workloads))
    rows = [
        (ranks[0].configuration, *map(_rank, ranks))
        for ranks in zip(*(own.ranks for own in ranking.workloads), strict=True)
    ]
    return TextTable("rank on each workload", heads, rows, names=1)


def _section_pairs(ranking: RankingReport, report: Report) -> TextTable:
    """Every pair on all workloads together."""
    heads = (report.noun, "against", "difference", "verdict")
    return TextTable(
        "every pair on all workloads together",
        heads,
        [_pair(pair) for pair in ranking.pairs],
        names=2,
    )


def _pair(pair: RankedPair) -> tuple[str, ...]:
    difference = format_change_interval(pair.change, pair.interval)
    return (pair.configuration, pair.other, difference, pair.verdict.value)


def _remarks(ranking: RankingReport, report: Report) -> Iterator[str]:
    """The pairs that change places, and how others have ranked them."""
    if ranking.crossings:
        pairs = format_rank_reversals(ranking.crossings, report.factor)
        yield f"The order depends on the workload: {pairs}."
    if report.reference:
        for published in report.reference.orders:
            yield f"{report.reference.name}, {published.where}: {' > '.join(published.order)}."
