"""A search as a section of the report: what it tried, and what each parameter does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from iostudy.analysis.search.race import Standing
from iostudy.report import search_chart, wording
from iostudy.report.columns import TextTable
from iostudy.report.section import Section
from iostudy.report.values.report import Report
from iostudy.report.values.search import CandidateTold, CurveTold, SearchTold
from iostudy.units import format_percent

INTERACTIONS = "what none does by itself"


def section(report: Report) -> Section | None:
    """The candidates, response curves and importance; None of a study that searches nothing."""
    told = report.search
    if told is None:
        return None
    return Section(
        name="search",
        title="Search",
        known=tuple(_known(told)),
        drawn=tuple(search_chart.drawn(curve, told) for curve in told.curves),
        tables=(_importance(told),) if told.importance else (),
        shut=(_candidates(told), *map(_curve, told.curves)),
    )


def _known(told: SearchTold) -> Iterator[str]:
    """What the search did, and what its figures do not say."""
    finished, refused = (
        sum(own.standing is standing for own in told.candidates)
        for standing in (Standing.FINISHED, Standing.REFUSED)
    )
    yield (
        f"{wording.counted(len(told.candidates) - refused, 'candidate')} in "
        f"{wording.counted(told.trials, 'trial')}, those of the default included; {finished} of "
        "them went all the way. Percentages are of performance against the default, positive is "
        "better."
    )
    if refused:
        yield f"{wording.counted(refused, 'candidate')} more could not be run, and were left out."
    if told.incumbent is not None:
        yield (
            "They are what the search saw, and no verdict: of many candidates the one that is "
            "ahead was also the luckiest, so its own figure is too high. What it is worth is for "
            "its confirmation in fresh blocks to say."
        )
    if not told.curves:
        yield "Too few candidates were measured to tell what each parameter does."
    elif not told.importance:
        yield (
            "The candidates do not differ by more than their noise, so that no parameter is told "
            "to matter more than another."
        )


def _candidates(told: SearchTold) -> TextTable:
    """Every candidate, the best of those with the most blocks first."""
    several = told.workloads if len(told.workloads) > 1 else ()
    heads = ("candidate", "became", "blocks", "against default, %", "± standard error", *several)
    order = sorted(told.candidates, key=lambda own: (-own.blocks, -(own.change or 0.0)))
    rows = [_row(own, told) for own in order]
    return TextTable("every candidate", heads, rows, names=2)


def _row(own: CandidateTold, told: SearchTold) -> tuple[str, ...]:
    alone = [wording.signed_percent(each) for each in own.on] if len(told.workloads) > 1 else []
    return (
        own.label,
        "ahead" if own.label == told.incumbent else became(own),
        str(own.blocks),
        wording.signed_percent(own.change),
        wording.UNKNOWN if own.error is None else format_percent(own.error),
        *alone,
    )


def became(own: CandidateTold) -> str:
    """What has become of a candidate, and why."""
    match own.standing:
        case Standing.RACING:
            return "was still racing"
        case Standing.WORSE:
            return "dropped: clearly worse"
        case Standing.UNFIT:
            return "dropped: a workload suffers"
        case Standing.REFUSED:
            return f"refused: {own.refused}"
        case Standing.FINISHED:
            return "all the way" if own.eligible else "all the way; a workload suffers"
    assert_never(own.standing)


def _importance(told: SearchTold) -> TextTable:
    heads = ("parameter", "share of what is explained", "95 % interval")
    rows = [
        (
            own.parameter or INTERACTIONS,
            format_percent(own.share),
            f"{format_percent(own.interval.low)} to {format_percent(own.interval.high)}",
        )
        for own in sorted(told.importance, key=lambda own: -own.share)
    ]
    return TextTable("which parameter matters", heads, rows, names=1)


def _curve(curve: CurveTold) -> TextTable:
    heads = (curve.parameter, "against default, %")
    rows = [(own.value, wording.change_within(own.change, own.interval)) for own in curve.points]
    return TextTable(f"response to {curve.parameter}", heads, rows, names=1)
