"""Report section on a search: candidates, responses and parameter importance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from iostudy.analysis.search.race import RaceStatus
from iostudy.report.formatting import (
    UNKNOWN,
    format_change_interval,
    format_count,
    format_signed_change,
)
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.search.values import CandidateReport, MainEffectReport, SearchReport
from iostudy.report.values import Report
from iostudy.units import format_percent

INTERACTIONS = "interactions"


def build_search_section(report: Report) -> Section | None:
    """The candidates, response curves and importance; None of a study that searches nothing."""
    text = report.search
    if text is None:
        return None
    # Imported here: what draws takes long to load, and a terminal shows no charts of most studies.
    from iostudy.report.topics.search.chart import build_response_chart

    return Section(
        name="search",
        title="Search",
        notes=tuple(_known(text)),
        charts=tuple(build_response_chart(curve, text) for curve in text.curves),
        tables=(_importance(text),) if text.importance else (),
        folded=(_candidates(text), *map(_curve, text.curves)),
    )


def _known(search: SearchReport) -> Iterator[str]:
    """Extent of the search, and limits of its figures."""
    finished, refused = (
        sum(own.standing is standing for own in search.candidates)
        for standing in (RaceStatus.FINISHED, RaceStatus.REFUSED)
    )
    yield (
        f"{format_count(len(search.candidates) - refused, 'candidate')} in "
        f"{format_count(search.trials, 'trial')}, including those of the default; {finished} of "
        "the candidates ran all rounds. Percentages are changes of performance against the "
        "default; positive is better."
    )
    if refused:
        yield f"{format_count(refused, 'candidate')} could not be run and were skipped."
    if search.incumbent is not None:
        yield (
            "These figures are not verdicts. The best of many candidates was also lucky (selection "
            "bias), so its figure is too high. The confirmation measures it in fresh blocks."
        )
    if not search.curves:
        yield "Too few candidates were measured to estimate the effect of each parameter."
    elif not search.importance:
        yield (
            "The candidates do not differ by more than their noise, so the "
            "importance of parameters is not estimated."
        )


def _candidates(search: SearchReport) -> TextTable:
    """Every candidate, the best of those with the most blocks first."""
    several = search.workloads if len(search.workloads) > 1 else ()
    heads = ("candidate", "outcome", "blocks", "against default", "± standard error", *several)
    order = sorted(search.candidates, key=lambda own: (-own.blocks, -(own.change or 0.0)))
    rows = [_row(own, search) for own in order]
    return TextTable("every candidate", heads, rows, names=2)


def _row(own: CandidateReport, search: SearchReport) -> tuple[str, ...]:
    alone = [format_signed_change(each) for each in own.on] if len(search.workloads) > 1 else []
    return (
        own.label,
        "ahead" if own.label == search.incumbent else describe_outcome(own),
        str(own.blocks),
        format_signed_change(own.change),
        UNKNOWN if own.error is None else format_percent(own.error),
        *alone,
    )


def describe_outcome(own: CandidateReport) -> str:
    """Describe the outcome of a candidate, with the reason."""
    match own.standing:
        case RaceStatus.RACING:
            return "still racing"
        case RaceStatus.WORSE:
            return "dropped: clearly worse"
        case RaceStatus.UNFIT:
            return "dropped: worse on a workload"
        case RaceStatus.REFUSED:
            return f"refused: {own.refused}"
        case RaceStatus.FINISHED:
            return "finished" if own.eligible else "finished; worse on a workload"
    assert_never(own.standing)


def _importance(search: SearchReport) -> TextTable:
    heads = ("parameter", "share of explained variance", "95 % interval")
    rows = [
        (
            own.parameter or INTERACTIONS,
            format_percent(own.share),
            f"{format_percent(own.interval.low)} to {format_percent(own.interval.high)}",
        )
        for own in sorted(search.importance, key=lambda own: -own.share)
    ]
    return TextTable("parameter importance", heads, rows, names=1)


def _curve(curve: MainEffectReport) -> TextTable:
    heads = (curve.parameter, "against default")
    rows = [(own.value, format_change_interval(own.change, own.interval)) for own in curve.points]
    return TextTable(f"response to {curve.parameter}", heads, rows, names=1)
