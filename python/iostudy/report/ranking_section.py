"""The combined ranking as a section of the report."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report import answer, wording
from iostudy.report.columns import TextTable
from iostudy.report.section import Section
from iostudy.report.values.ranking import PairTold, RankedTold, RankingTold, RanksTold
from iostudy.report.values.report import Report
from iostudy.units import format_percent


def section(report: Report) -> Section | None:
    """All workloads together, and each alone where they contradict each other."""
    told = report.ranking
    if told is None:
        return None
    alone = _alone(told, report)
    return Section(
        name="ranking",
        title="Combined ranking",
        known=(*_remarks(told, report), _known(told, report)),
        tables=(_combined(told, report), *((alone,) if alone else ())),
        shut=(_pairs(told, report),),
    )


def _known(told: RankingTold, report: Report) -> str:
    """What has to be known to read the tables."""
    risk = format_percent(report.method.risk)
    over = "" if len(told.workloads) == 1 else f" over {_weighted(told)}"
    return (
        f"Percentages are of performance{over}: positive is better, whether a figure counts up or "
        "down. The mean is the geometric mean of all. A rank of 2–3 may be the second or the "
        "third: beyond the margin, none that may have it is shown to differ. All ranks hold "
        f"the true ones at once, but for a risk of {risk}."
    )


def _weighted(told: RankingTold) -> str:
    """``all workloads alike``, or with their weights."""
    if len({workload.weight for workload in told.workloads}) == 1:
        return "all workloads alike"
    shares = [f"{own.workload} ({format_percent(own.weight)})" for own in told.workloads]
    return f"workloads with their weights, {wording.joined(shares)}"


def _combined(told: RankingTold, report: Report) -> TextTable:
    """A row for each configuration, the best first."""
    heads = (
        report.noun,
        "rank",
        "from the mean, %",
        f"{wording.against(report.baseline)}, %",
        *(("least on",) if len(told.workloads) > 1 else ()),
    )
    return TextTable("", heads, [_row(own, told) for own in told.ranked], names=1)


def _row(own: RankedTold, told: RankingTold) -> tuple[str, ...]:
    change = "" if own.baseline else wording.change_within(own.change, own.interval)
    least = f"{own.worst_workload} ({wording.signed_percent(own.worst_from_mean)})"
    return (
        own.configuration,
        _rank(own),
        wording.change_within(own.from_mean, own.from_mean_interval),
        change,
        *((least,) if len(told.workloads) > 1 else ()),
    )


def _rank(ranks: RanksTold) -> str:
    """``2``, or ``2–3`` where it may be either."""
    if ranks.best_rank == ranks.worst_rank:
        return str(ranks.best_rank)
    return f"{ranks.best_rank}–{ranks.worst_rank}"


def _alone(told: RankingTold, report: Report) -> TextTable | None:
    """The ranks on each workload; None where these do not contradict each other."""
    if not told.crossings:
        return None
    heads = (report.noun, *(own.workload for own in told.workloads))
    rows = [
        (ranks[0].configuration, *map(_rank, ranks))
        for ranks in zip(*(own.ranks for own in told.workloads), strict=True)
    ]
    return TextTable("rank on each workload", heads, rows, names=1)


def _pairs(told: RankingTold, report: Report) -> TextTable:
    """Every pair on all workloads together."""
    heads = (report.noun, "against", "difference, %", "verdict")
    return TextTable(
        "every pair on all workloads together",
        heads,
        [_pair(pair) for pair in told.pairs],
        names=2,
    )


def _pair(pair: PairTold) -> tuple[str, ...]:
    difference = wording.change_within(pair.change, pair.interval)
    return (pair.configuration, pair.other, difference, pair.verdict.value)


def _remarks(told: RankingTold, report: Report) -> Iterator[str]:
    """The pairs that change places, and how others have ranked them."""
    if told.crossings:
        yield f"The order depends on the workload: {answer.change_of_places(told.crossings)}."
    if report.reference:
        for published in report.reference.orders:
            yield f"{report.reference.name}, {published.where}: {' > '.join(published.order)}."
