"""Two studies beside each other as a document, which every format tells in its own way."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.analysis.verdict import Verdict
from iostudy.report import flags_section, wording
from iostudy.report.columns import TextTable
from iostudy.report.section import Document, Listing, Section
from iostudy.report.values.comparison import ComparedTold, ComparisonTold, CostTold, SideTold
from iostudy.units import format_percent

BETWEEN = (
    "Nothing cancels between two studies. Another day, another host, another state of the disk are "
    "part of every difference here, and in no interval: these hold the noise within the studies "
    "alone. What is shown is that the studies differ, not why. To compare two configurations, run "
    "both in one study."
)


def document(told: ComparisonTold) -> Document:
    """The differences first, then how much they cost and what else differs."""
    return Document(
        title=f"{told.first.name} and {told.second.name}",
        known=(
            f"The first study: {_side(told.first)}",
            f"The second study: {_side(told.second)}",
            BETWEEN,
        ),
        sections=tuple(_sections(told)),
        listing=_listing(told),
    )


def _side(side: SideTold) -> str:
    ending = "" if side.finished else " It is not finished."
    begun = wording.moment(side.started_at)
    return f"{side.place}, begun {begun}. {side.question}{ending}"


def _sections(told: ComparisonTold) -> Iterator[Section]:
    yield Section(
        name="compared",
        title="The second study against the first",
        known=tuple(_known(told)),
        tables=(_table(told),),
    )
    if told.left_out:
        rows = [(reason,) for reason in told.left_out]
        table = TextTable("", ("reason",), rows, names=1)
        yield Section(name="left-out", title="What is not compared", tables=(table,))
    if told.differences:
        rows_of = [(d.name, _shown(d.first), _shown(d.second)) for d in told.differences]
        yield Section(
            name="differences",
            title="In what else they differ",
            known=("What is the same in both is not listed; a dash is nothing at all.",),
            tables=(TextTable("", ("circumstance", "first", "second"), rows_of, names=3),),
        )


def _shown(text: str | None) -> str:
    return wording.UNKNOWN if text is None else text


def _table(told: ComparisonTold) -> TextTable:
    heads = ("workload", "configuration", "first", "second", "change, %", "verdict", "trials")
    rows = [_row(each) for each in told.compared]
    return TextTable("", heads, rows, names=2)


def _row(each: ComparedTold) -> tuple[str, ...]:
    unit = each.figure.unit
    values = (f"{wording.significant(m.value)} {unit}" for m in (each.first, each.second))
    return (
        each.workload,
        _configuration(each),
        *values,
        wording.change_within(each.change, each.interval),
        _verdict(each),
        f"{each.first.trials} and {each.second.trials}",
    )


def _configuration(each: ComparedTold) -> str:
    first, second = each.first.configuration, each.second.configuration
    return first if first == second else f"{first} / {second}"


def _verdict(each: ComparedTold) -> str:
    if each.flags:
        return "none (flagged)"
    if each.verdict is Verdict.INCONCLUSIVE:
        return "inconclusive"
    return f"{each.verdict} by at least the margin" if each.by_margin else str(each.verdict)


def _known(told: ComparisonTold) -> Iterator[str]:
    margin, risk = format_percent(told.margin), format_percent(told.risk)
    yield (
        "Means are geometric, over all trials of a configuration that count. Intervals are "
        "Welch's, at the level of both studies' looks; "
        f"margin {margin}, and a risk of {risk} for all of these verdicts together."
    )
    yield from map(_cost, told.costs)
    for flag in dict.fromkeys(flag for each in told.compared for flag in each.flags):
        yield (
            f"Flagged, {flag}: {flags_section.meaning(flag)} Here no verdict is given, for the "
            "trials of such a study count for fewer than they are."
        )


def _cost(cost: CostTold) -> str:
    if cost.times_as_wide <= 1:
        return (
            f"On {cost.workload}, pairs cancelled nothing within the studies: for the noise that "
            "they saw, the lack of pairs costs no certainty."
        )
    return (
        f"On {cost.workload}, the lack of pairs makes an interval "
        f"{cost.times_as_wide:.1f} times as wide, by what pairs cancelled within the studies; it "
        f"would take {cost.times_as_many_blocks:.1f} times as many blocks to make up for it."
    )


def _listing(told: ComparisonTold) -> Listing | None:
    if not told.study_difference:
        return None
    return Listing("From the first study file to the second", told.study_difference, "diff")
