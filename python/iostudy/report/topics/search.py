"""Candidates, responses and importance of a search. Not used for verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, assert_never

from pydantic import FiniteFloat

from iostudy.analysis.paired import as_fraction
from iostudy.analysis.search.race import Entrant, RaceStatus
from iostudy.analysis.search.response import (
    Importance,
    MainEffectCurve,
    ResponseModel,
    estimate_response,
)
from iostudy.analysis.search.space import Range, SearchSpace
from iostudy.ledger.search_result import SearchResult
from iostudy.report.base import Span, Value
from iostudy.report.drawing import BLUE, RED, alt, make_chart, round_value
from iostudy.report.formatting import (
    UNKNOWN,
    finite,
    format_change_interval,
    format_count,
    format_signed_change,
)
from iostudy.report.section import Chart, Section, TextTable
from iostudy.results.search_state import SearchState
from iostudy.study.search import Candidate
from iostudy.units import format_percent

if TYPE_CHECKING:
    from iostudy.report.values import Report


class CandidateReport(Value):
    """A candidate with its own blocks. Changes are of performance, against the default."""

    label: str
    """Label of the candidate."""
    point: dict[str, str]
    """Values of its parameters."""
    standing: RaceStatus
    """Status of the candidate in the race."""
    blocks: int
    """Number of blocks in which it ran all workloads."""
    change: FiniteFloat | None
    """Weighted mean change over all workloads, as a fraction; null if unknown. That of the best
    candidate is biased upwards, since it was selected."""
    error: FiniteFloat | None
    """Standard error of the change, as a fraction; null if unknown."""
    on: tuple[FiniteFloat | None, ...]
    """Change on each workload, as a fraction; null if unknown."""
    eligible: bool
    """Whether no workload loses more than the study allows."""
    refused: str
    """Why the host refused a setting; empty otherwise."""


class MainEffectPoint(Value):
    """Predicted performance at one value of a parameter, averaged over all others."""

    value: str
    """Value of the parameter."""
    change: FiniteFloat
    """Change against the default, as a fraction."""
    interval: Span
    """Pointwise 95 % interval of the change."""


class MainEffectReport(Value):
    """Main effect of a parameter over its values."""

    parameter: str
    """Name of the parameter."""
    points: tuple[MainEffectPoint, ...]
    """Predictions by value."""
    is_range: bool
    """Whether the values are numbers of a range; false for names."""
    log: bool
    """Whether the range is logarithmic."""


class ImportanceReport(Value):
    """Share of a parameter in the predicted variance."""

    parameter: str | None
    """Name of the parameter; null for all interactions."""
    share: FiniteFloat
    """Share of the variance, 0 to 1."""
    interval: Span
    """95 % interval of the share."""


class SearchReport(Value):
    """Candidates of a search, and the effects of its parameters."""

    ended: bool
    """Whether the search has selected its winner."""
    incumbent: str | None
    """Label of the leading candidate; null if the default leads."""
    workloads: tuple[str, ...]
    """Labels of the workloads."""
    candidates: tuple[CandidateReport, ...]
    """Candidates in the order of their proposal."""
    trials: int
    """Counted trials of the search, including the default's."""
    curves: tuple[MainEffectReport, ...]
    """Main effects of the parameters; empty with too few candidates."""
    importance: tuple[ImportanceReport, ...]
    """Importance of the parameters; empty if candidates differ by no more than their noise."""


def build_search(found: SearchResult) -> SearchReport:
    """The candidates as the ledger leaves them, and what they say of the parameters."""
    course = SearchState(found.study, found.row.seed, found.candidates, found.rows)
    ahead = course.incumbent
    space, workloads = course.search.space, found.study.workloads
    response = estimate_response(space, course.candidate_results, course.policy, found.row.seed)
    return SearchReport(
        ended=found.outcome is not None,
        incumbent=None if ahead is None else found.candidates[ahead].label,
        workloads=tuple(request.label for request in workloads),
        candidates=tuple(map(_candidate, found.candidates, course.race.entrants)),
        trials=course.spent.trials,
        curves=_curves(space, response),
        importance=tuple(map(_importance, response.importance)) if response else (),
    )


def _candidate(candidate: Candidate, entrant: Entrant) -> CandidateReport:
    return CandidateReport(
        label=candidate.label,
        point=dict(candidate.point),
        standing=entrant.status,
        blocks=entrant.blocks,
        change=finite(as_fraction(entrant.estimate)),
        error=finite(as_fraction(entrant.error)),
        on=tuple(finite(as_fraction(own)) for own in entrant.by_workload),
        eligible=entrant.eligible,
        refused=candidate.refused,
    )


def _curves(space: SearchSpace, response: ResponseModel | None) -> tuple[MainEffectReport, ...]:
    domains = {parameter.name: parameter.domain for parameter in space.parameters}
    return tuple(
        MainEffectReport(
            parameter=curve.parameter,
            points=_points(curve),
            is_range=isinstance(domain, Range),
            log=isinstance(domain, Range) and domain.log,
        )
        for curve in (response.curves if response else ())
        for domain in (domains[curve.parameter],)
    )


def _points(curve: MainEffectCurve) -> tuple[MainEffectPoint, ...]:
    return tuple(
        MainEffectPoint(
            value=value,
            change=as_fraction(effect),
            interval=Span(low=as_fraction(low), high=as_fraction(high)),
        )
        for value, effect, low, high in zip(
            curve.values, curve.effect, curve.low, curve.high, strict=True
        )
    )


def _importance(own: Importance) -> ImportanceReport:
    interval = Span(low=own.low, high=own.high)
    return ImportanceReport(parameter=own.parameter, share=own.share, interval=interval)


INTERACTIONS = "interactions"


def build_search_section(report: Report) -> Section | None:
    """The candidates, response curves and importance; None of a study that searches nothing."""
    text = report.search
    if text is None:
        return None

    return Section(
        name="search",
        title="Search",
        notes=tuple(_known(text)),
        draw=lambda: [build_response_chart(curve, text) for curve in text.curves],
        tables=(_section_importance(text),) if text.importance else (),
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


def _section_importance(search: SearchReport) -> TextTable:
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


HEIGHT = 220
_BAND, _POINTS = 0.2, 0.7
_TICK = 40


def build_response_chart(curve: MainEffectReport, search: SearchReport) -> Chart:
    """The curve with its interval; each candidate a point, the larger the more blocks it ran."""
    best = max(curve.points, key=lambda own: own.change)
    rows = {
        "curve": [_build_curve_row(own, curve) for own in curve.points],
        "candidates": [
            _build_candidate_row(own, own.change, curve)
            for own in search.candidates
            if own.change is not None and curve.parameter in own.point
        ],
    }
    return Chart(
        spec=make_chart((*_response(curve), _chart_candidates(curve)), height=HEIGHT, rows=rows),
        alternative=(
            f"Performance against the default by {curve.parameter}, averaged over all other "
            f"parameters. It is highest at {best.value}, with "
            f"{format_change_interval(best.change, best.interval)}."
        ),
        legend=(
            f"{curve.parameter}: performance against the default, averaged over all other "
            "parameters, with a 95 % interval that holds at each value by itself. Each candidate "
            "is a point, the larger the more blocks it ran."
        ),
    )


def _build_curve_row(own: MainEffectPoint, curve: MainEffectReport) -> dict[str, Any]:
    low, high = own.interval.low, own.interval.high
    figures = {"change": own.change, "low": low, "high": high}
    text = {name: round_value(value) for name, value in figures.items()}
    return {"value": _placed(own.value, curve), **text}


def _build_candidate_row(
    own: CandidateReport, change: float, curve: MainEffectReport
) -> dict[str, Any]:
    return {
        "candidate": own.label,
        "value": _placed(own.point[curve.parameter], curve),
        "change": round_value(change),
        "blocks": own.blocks,
        "change_text": format_signed_change(change),
    }


def _response(curve: MainEffectReport) -> tuple[alt.Chart, ...]:
    """A line with a band; where the values are names, a mark and a bar for each."""
    base = alt.Chart(alt.NamedData("curve")).encode(x=_across(curve))
    ends = {"y": _upwards("low"), "y2": alt.Y2("high:Q")}
    middle = {"y": _upwards("change")}
    if curve.is_range:
        return (
            base.mark_area(color=BLUE, opacity=_BAND).encode(**ends),
            base.mark_line(color=BLUE).encode(**middle),
        )
    return (
        base.mark_rule(color=BLUE, strokeWidth=2).encode(**ends),
        base.mark_tick(color=BLUE, thickness=3, size=_TICK).encode(**middle),
    )


def _chart_candidates(curve: MainEffectReport) -> alt.Chart:
    tooltip = [
        *(alt.Tooltip(f"{name}:N") for name in ("candidate", "value", "blocks")),
        alt.Tooltip("change_text:N", title="change"),
    ]
    size = alt.Size("blocks:Q", legend=None).scale(range=[20, 120])
    points: alt.Chart = (
        alt.Chart(alt.NamedData("candidates"))
        .mark_point(filled=True, color=RED, opacity=_POINTS)
        .encode(x=_across(curve), y=_upwards("change"), size=size, tooltip=tooltip)
    )
    return points


def _placed(value: str, curve: MainEffectReport) -> Any:
    return float(value) if curve.is_range else value


def _across(curve: MainEffectReport) -> alt.X:
    if not curve.is_range:
        return alt.X("value:N", title=curve.parameter, axis=alt.Axis(labelAngle=0), sort=None)
    scale = alt.Scale(type="log" if curve.log else "linear", zero=False, nice=False)
    return alt.X("value:Q", title=curve.parameter, scale=scale)


def _upwards(field: str) -> alt.Y:
    axis = alt.Axis(labelExpr="format(datum.value * 100, ',')")
    return alt.Y(f"{field}:Q", title="against default, %", axis=axis)
