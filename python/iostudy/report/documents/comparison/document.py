"""Comparison of two studies as a document for every renderer."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.analysis.verdict import Verdict
from iostudy.report.documents.comparison.values import (
    ComparedStudy,
    ConfigurationComparison,
    PairingLoss,
    StudyComparison,
)
from iostudy.report.formatting import UNKNOWN, format_change_interval, format_figure, format_time
from iostudy.report.section import Document, Listing, Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.caveats.section import explain_flag
from iostudy.units import format_percent

UNPAIRED_NOTE = (
    "Two studies share no blocks, so their common noise does not cancel. Time, host and disk state "
    "are part of every difference here, and of no interval: intervals cover the noise within the "
    "studies only. Days that deviate by 2 % often make equal studies differ. Compare the "
    "differences from the baseline in the two reports, or several studies of each kind. To compare "
    "two configurations, run both in one study."
)


def build_comparison_document(comparison: StudyComparison) -> Document:
    """Differences, the cost of missing pairs, and other circumstances."""
    return Document(
        title=f"{comparison.first.label} and {comparison.second.label}",
        notes=(
            f"The first study, {comparison.first.label}: {_side(comparison.first)}",
            f"The second study, {comparison.second.label}: {_side(comparison.second)}",
            UNPAIRED_NOTE,
        ),
        sections=tuple(_sections(comparison)),
        listing=_listing(comparison),
    )


def _side(side: ComparedStudy) -> str:
    ending = "" if side.finished else " It is not finished."
    started = format_time(side.started_at)
    return f"{side.name} in {side.place}, started {started}. {side.question}{ending}"


def _sections(comparison: StudyComparison) -> Iterator[Section]:
    yield Section(
        name="compared",
        title=f"{comparison.second.label} compared with {comparison.first.label}",
        notes=tuple(_known(comparison)),
        tables=(_table(comparison),),
    )
    if comparison.left_out:
        rows = [(reason,) for reason in comparison.left_out]
        table = TextTable("", ("reason",), rows, names=1)
        yield Section(name="left-out", title="Not compared", tables=(table,))
    if comparison.differences:
        heads = ("circumstance", comparison.first.label, comparison.second.label)
        rows_of = [(d.name, _shown(d.first), _shown(d.second)) for d in comparison.differences]
        yield Section(
            name="differences",
            title="Other differences",
            notes=("Only differences are listed; a dash means no value.",),
            tables=(TextTable("", heads, rows_of, names=3),),
        )


def _shown(text: str | None) -> str:
    return UNKNOWN if text is None else text


def _table(comparison: StudyComparison) -> TextTable:
    sides = (comparison.first.label, comparison.second.label)
    heads = ("workload", "configuration", "change", "verdict", *sides, "trials")
    rows = [_row(each) for each in comparison.compared]
    return TextTable("", heads, rows, names=2)


def _row(each: ConfigurationComparison) -> tuple[str, ...]:
    unit = each.figure.unit
    values = (f"{format_figure(m.value)} {unit}" for m in (each.first, each.second))
    return (
        each.workload,
        _configuration(each),
        format_change_interval(each.change, each.interval),
        _verdict(each),
        *values,
        f"{each.first.trials} and {each.second.trials}",
    )


def _configuration(each: ConfigurationComparison) -> str:
    first, second = each.first.configuration, each.second.configuration
    return first if first == second else f"{first} / {second}"


def _verdict(each: ConfigurationComparison) -> str:
    if each.flags:
        return "none (flagged)"
    if each.verdict is Verdict.INCONCLUSIVE:
        return "inconclusive"
    return f"{each.verdict} by ≥ margin" if each.by_margin else str(each.verdict)


def _known(comparison: StudyComparison) -> Iterator[str]:
    margin, risk = format_percent(comparison.margin), format_percent(comparison.risk)
    yield (
        "Means are geometric, over all counted trials of a configuration. Intervals are Welch's, "
        "at a level that allows for the interim analyses of both studies; "
        f"margin {margin}, and a risk of {risk} for all of these verdicts together."
    )
    yield from map(_cost, comparison.costs)
    for flag in dict.fromkeys(flag for each in comparison.compared for flag in each.flags):
        yield (
            f"Flagged, {flag}: {explain_flag(flag)} No verdict is given here, because the "
            "effective number of trials of such a study is smaller."
        )


def _cost(cost: PairingLoss) -> str:
    if cost.times_as_wide <= 1:
        return (
            f"On {cost.workload}, pairing removed no noise within the studies: the missing pairs "
            "cost no precision."
        )
    return (
        f"On {cost.workload}, the missing pairs make an interval {cost.times_as_wide:.1f} times as "
        "wide, by the noise that pairing removed within the studies. "
        f"{cost.times_as_many_blocks:.1f} times as many blocks would compensate."
    )


def _listing(comparison: StudyComparison) -> Listing | None:
    if not comparison.study_difference:
        return None
    return Listing("Differences between the study files", comparison.study_difference, "diff")
