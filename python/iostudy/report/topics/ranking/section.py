"""Report section on the combined ranking."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report.formatting import (
    format_against,
    format_change_interval,
    format_signed_change,
    join_words,
)
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.ranking.answer import format_rank_reversals
from iostudy.report.topics.ranking.values import (
    RankedConfiguration,
    RankedPair,
    RankingReport,
    RankRange,
)
from iostudy.report.values import Report
from iostudy.units import format_percent


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
        folded=(_pairs(text, report),),
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


def _pairs(ranking: RankingReport, report: Report) -> TextTable:
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
