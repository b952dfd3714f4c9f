"""Combined ranking over all workloads, with the rank range of each configuration (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from iostudy.analysis.paired import as_fraction
from iostudy.analysis.ranking import (
    IntervalEstimates,
    PairwiseOrder,
    QualitativeInteraction,
    Ranking,
)
from iostudy.analysis.verdict import Verdict
from iostudy.ledger.rows import MeasuredRow
from iostudy.report.base import Span
from iostudy.report.finite import build_span, finite
from iostudy.report.topics.ranking.answer import summarize_ranking
from iostudy.report.topics.ranking.values import (
    RankedConfiguration,
    RankedPair,
    RankingReport,
    RankRange,
    RankReversal,
    WorkloadRanking,
)
from iostudy.report.topics.verdicts.answer import find_factor_noun
from iostudy.report.topics.verdicts.names import find_single_factor
from iostudy.results.comparisons import rank_configurations
from iostudy.study.model import Study


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
