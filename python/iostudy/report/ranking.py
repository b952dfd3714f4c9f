"""All workloads together: which configuration may be the best, and the ranks of each (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from iostudy.analysis.paired import as_fraction
from iostudy.analysis.ranking import Crossing, Estimates, Order, Ranking
from iostudy.analysis.verdict import Verdict
from iostudy.ledger.rows import TrialRow
from iostudy.report import answer
from iostudy.report.finite import span
from iostudy.report.values.base import Span
from iostudy.report.values.ranking import (
    CrossingTold,
    PairTold,
    RankedTold,
    RankingTold,
    RanksTold,
    WorkloadRanksTold,
)
from iostudy.results.comparisons import rank_configurations
from iostudy.study.model import Study


def told(study: Study, rows: Sequence[TrialRow]) -> RankingTold | None:
    """The ranking of a study; None where verdicts tell all, or too few blocks are there for one."""
    ranking = rank_configurations(study, rows)
    if ranking is None:
        return None
    weights = study.weights
    labels = [configuration.label for configuration in study.choices()]
    workloads = [workload.label for workload in study.workloads]
    crossings = tuple(_crossing(each, labels, workloads) for each in ranking.crossings)
    best = tuple(labels[index] for index in ranking.combined.best)
    return RankingTold(
        answer=answer.of_ranking(
            answer.noun_of(study.factors),
            workloads,
            best,
            labels,
            () if ranking.has_single_order else crossings,
        ),
        best=best,
        single_order=ranking.has_single_order,
        ranked=_ranked(ranking, labels, workloads),
        pairs=tuple(_pairs(ranking.combined, labels)),
        crossings=crossings,
        workloads=tuple(
            WorkloadRanksTold(
                workload=workload, weight=weight / sum(weights), ranks=_ranks(order, labels)
            )
            for workload, weight, order in zip(workloads, weights, ranking.alone, strict=True)
        ),
    )


def _ranked(
    ranking: Ranking, labels: Sequence[str], workloads: Sequence[str]
) -> tuple[RankedTold, ...]:
    """By their ranks, and those with the same ranks by their difference from the mean."""
    order = ranking.combined
    found = [_told_of(index, label, ranking, workloads) for index, label in enumerate(labels)]
    by_rank = sorted(
        range(len(found)),
        key=lambda index: (
            found[index].best_rank,
            found[index].worst_rank,
            -order.from_mean.value[index],
        ),
    )
    return tuple(found[index] for index in by_rank)


def _told_of(index: int, label: str, ranking: Ranking, workloads: Sequence[str]) -> RankedTold:
    order, ranks = ranking.combined, ranking.combined.ranks[index]
    alone = [float(own.from_mean.value[index]) for own in ranking.alone]
    worst = int(np.argmin(alone))
    return RankedTold(
        configuration=label,
        baseline=index == 0,
        best_rank=ranks.best,
        worst_rank=ranks.worst,
        from_mean=as_fraction(float(order.from_mean.value[index])),
        from_mean_interval=_span(order.from_mean, index),
        change=as_fraction(float(order.pairs.value[index, 0])) if index else None,
        interval=_span(order.pairs, (index, 0)) if index else None,
        worst_workload=workloads[worst],
        worst_from_mean=as_fraction(alone[worst]),
    )


def _span(estimates: Estimates, place: int | tuple[int, int]) -> Span | None:
    low, high = (as_fraction(float(ends[place])) for ends in (estimates.low, estimates.high))
    return span((low, high))


def _ranks(order: Order, labels: Sequence[str]) -> tuple[RanksTold, ...]:
    return tuple(
        RanksTold(configuration=label, best_rank=ranks.best, worst_rank=ranks.worst)
        for label, ranks in zip(labels, order.ranks, strict=True)
    )


def _pairs(order: Order, labels: Sequence[str]) -> Iterator[PairTold]:
    """Each pair once, as the later configuration against the earlier."""
    for later, label in enumerate(labels):
        for earlier, other in enumerate(labels[:later]):
            yield PairTold(
                configuration=label,
                other=other,
                change=as_fraction(float(order.pairs.value[later, earlier])),
                interval=_span(order.pairs, (later, earlier)),
                verdict=Verdict(str(order.verdicts[later, earlier])),
            )


def _crossing(crossing: Crossing, labels: Sequence[str], workloads: Sequence[str]) -> CrossingTold:
    return CrossingTold(
        configuration=labels[crossing.first],
        other=labels[crossing.second],
        better_on=tuple(workloads[index] for index in crossing.better),
        worse_on=tuple(workloads[index] for index in crossing.worse),
    )
