"""Combined ranking over all workloads, with the rank range of each configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from pydantic import FiniteFloat

from iostudy.analysis.paired import as_fraction
from iostudy.analysis.ranking import IntervalEstimates, Ranking
from iostudy.analysis.verdict import Verdict
from iostudy.report.base import (
    JudgedChange,
    OnWorkload,
    Span,
    UnderConfiguration,
    Value,
    build_span,
    finite,
)
from iostudy.report.formatting import (
    find_factor_noun,
    find_single_factor,
    format_against,
    format_change_interval,
    format_count,
    format_signed_change,
    join_words,
    name_configuration,
)
from iostudy.report.section import Section, make_table
from iostudy.report.topics.sentences import MOST_NAMED
from iostudy.study.model import Study
from iostudy.units import format_percent

if TYPE_CHECKING:
    from iostudy.report.values import Report

MOST_PAIRS = 1_000
"""Rows of the table of pairs, which grow with the square of the number of configurations."""


class RankRange(UnderConfiguration):
    """Range of the possible ranks of a configuration."""

    best_rank: int
    """Best possible rank, from 1."""
    worst_rank: int
    """Worst possible rank."""

    @property
    def says(self) -> str:
        """``2``, or ``2–3`` where it may be either."""
        return "–".join(dict.fromkeys(map(str, (self.best_rank, self.worst_rank))))


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


class RankedPair(JudgedChange):
    """Change of performance from ``other`` to ``configuration`` over all workloads."""

    configuration: str
    """Label of the first configuration."""
    other: str
    """Label of the second one."""


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


class WorkloadRanking(OnWorkload):
    """Ranks on one workload, and its weight in the combined ranking."""

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
    factor: str,
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


def format_rank_reversals(crossings: Sequence[RankReversal], factor: str) -> str:
    """Pairs that change places: ``kyber is better than bfq on writes, and worse on reads``."""
    texts = []
    for crossing in crossings[:MOST_NAMED]:
        first, second = (
            name_configuration(label, factor) for label in (crossing.configuration, crossing.other)
        )
        better, worse = (join_words(names) for names in (crossing.better_on, crossing.worse_on))
        texts.append(f"{first} is better than {second} on {better}, and worse on {worse}")
    if (left := len(crossings) - MOST_NAMED) > 0:
        texts.append(format_count(left, "more pair"))
    return "; ".join(texts)


def build_ranking(study: Study, ranking: Ranking | None) -> RankingReport | None:
    """Return the ranking of a study; None if verdicts give the order, or with too few blocks."""
    if ranking is None:
        return None
    weights = study.weights
    labels = [configuration.label for configuration in study.choices()]
    workloads = [workload.label for workload in study.workloads]
    crossings = tuple(
        RankReversal(
            configuration=labels[interaction.first],
            other=labels[interaction.second],
            better_on=tuple(workloads[index] for index in interaction.better),
            worse_on=tuple(workloads[index] for index in interaction.worse),
        )
        for interaction in ranking.interactions
    )
    order, pairs = ranking.combined, ranking.combined.pairs.as_fractions()
    best = tuple(labels[index] for index in order.best)
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
        ranked=_rank_all(ranking, labels, workloads),
        # Each pair once, as the later configuration against the earlier.
        pairs=tuple(
            RankedPair(
                configuration=label,
                other=other,
                change=_change(pairs, (later, earlier)),
                interval=_span(pairs, (later, earlier)),
                verdict=Verdict(str(order.verdicts[later, earlier])),
            )
            for later, label in enumerate(labels)
            for earlier, other in enumerate(labels[:later])
        ),
        crossings=crossings,
        workloads=tuple(
            WorkloadRanking(
                workload=workload,
                weight=weight / sum(weights),
                ranks=tuple(
                    RankRange(configuration=label, best_rank=ranks.best, worst_rank=ranks.worst)
                    for label, ranks in zip(labels, order.ranks, strict=True)
                ),
            )
            for workload, weight, order in zip(workloads, weights, ranking.by_workload, strict=True)
        ),
    )


def _rank_all(
    ranking: Ranking, labels: Sequence[str], workloads: Sequence[str]
) -> tuple[RankedConfiguration, ...]:
    """Return the configurations by rank, ties by their difference from the geometric mean."""
    order, ranked = ranking.combined, []
    pairs, vs_mean = order.pairs.as_fractions(), order.vs_mean.as_fractions()
    for index, label in enumerate(labels):
        alone = [float(w.vs_mean.value[index]) for w in ranking.by_workload]
        worst = int(np.argmin(alone))
        ranks = order.ranks[index]
        report = RankedConfiguration(
            configuration=label,
            baseline=index == 0,
            best_rank=ranks.best,
            worst_rank=ranks.worst,
            from_mean=_change(vs_mean, index),
            from_mean_interval=_span(vs_mean, index),
            change=_change(pairs, (index, 0)) if index else None,
            interval=_span(pairs, (index, 0)) if index else None,
            worst_workload=workloads[worst],
            worst_from_mean=finite(as_fraction(alone[worst])),
        )
        ranked.append((ranks.best, ranks.worst, -order.vs_mean.value[index], index, report))
    return tuple(report for *_, report in sorted(ranked))


def _change(fractions: IntervalEstimates, place: int | tuple[int, int]) -> float | None:
    return finite(float(fractions.value[place]))


def _span(fractions: IntervalEstimates, place: int | tuple[int, int]) -> Span | None:
    return build_span((float(fractions.low[place]), float(fractions.high[place])))


def build_ranking_section(report: Report) -> Section | None:
    """All workloads together, and each alone where they contradict each other."""
    ranking = report.ranking
    if ranking is None:
        return None
    rows, several = [], len(ranking.workloads) > 1
    for place in ranking.ranked:
        against = "" if place.baseline else format_change_interval(place.change, place.interval)
        row = {
            report.noun: place.configuration,
            "rank": place.says,
            "vs geometric mean": format_change_interval(place.from_mean, place.from_mean_interval),
            format_against(report.baseline): against,
        }
        if several:
            worst = format_signed_change(place.worst_from_mean)
            row["worst workload"] = f"{place.worst_workload} ({worst})"
        rows.append(row)
    heads = [report.noun, *(workload.workload for workload in ranking.workloads)]
    alone = (
        list(zip(heads, (ranks[0].configuration, *(r.says for r in ranks)), strict=True))
        for ranks in zip(*(workload.ranks for workload in ranking.workloads), strict=True)
    )
    pairs = (
        {
            report.noun: pair.configuration,
            "against": pair.other,
            "verdict": pair.verdict,
            "difference": format_change_interval(pair.change, pair.interval),
        }
        for pair in ranking.pairs
    )
    tables = [make_table(rows)]
    if ranking.crossings:
        tables.append(make_table(alone, "rank on each workload"))
    folded = [make_table(pairs, "every pair on all workloads together", names=2)]
    if len(ranking.pairs) > MOST_PAIRS:
        folded = []
    return Section(
        "ranking", "Combined ranking", tuple(_notes(ranking, report)), tables=tables, folded=folded
    )


def _notes(ranking: RankingReport, report: Report) -> Iterator[str]:
    """Yield pairs that change places, how others have ranked them, and how to read the tables."""
    if ranking.crossings:
        pairs = format_rank_reversals(ranking.crossings, report.factor)
        yield f"The order depends on the workload: {pairs}."
    if len(ranking.pairs) > MOST_PAIRS:
        yield f"The {len(ranking.pairs)} pairs are in report.json."
    if report.reference:
        for published in report.reference.orders:
            yield f"{report.reference.name}, {published.where}: {' > '.join(published.order)}."
    shares = [f"{w.workload} ({format_percent(w.weight)})" for w in ranking.workloads]
    over = f" over workloads with their weights, {join_words(shares)}"
    if len(ranking.workloads) == 1:
        over = ""
    elif len({workload.weight for workload in ranking.workloads}) == 1:
        over = " over all workloads with equal weights"
    yield (
        f"Percentages are changes of performance{over}: positive is better. The geometric mean is "
        "that of all configurations. A rank of 2–3 means the second or the third: configurations "
        "that share a rank are not shown to differ by the margin. All ranks hold together, with an "
        f"error rate of {format_percent(report.method.risk)}."
    )
