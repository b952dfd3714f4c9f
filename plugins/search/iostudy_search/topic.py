"""Candidates, responses and importance of a search. Not used for verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

from pydantic import FiniteFloat

from iostudy.analysis.paired import as_fraction
from iostudy.report.base import Span, Value, finite
from iostudy.report.drawing import BLUE, RED, Rows, Spec, field, layer, make_chart
from iostudy.report.formatting import (
    UNKNOWN,
    format_change_interval,
    format_count,
    format_signed_change,
    round_value,
)
from iostudy.report.plugin_topics import Topic, TopicValue
from iostudy.report.section import Chart, Section, make_table
from iostudy.units import format_percent
from iostudy_search.optimizer.race import RaceStatus
from iostudy_search.optimizer.response import ResponseModel, estimate_response
from iostudy_search.optimizer.space import Range, SearchSpace
from iostudy_search.result import SearchResult
from iostudy_search.state import SearchState


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


class SearchReport(TopicValue):
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

    def build_section(self, *, factor: str, risk: float, several: bool) -> Section:
        """Return the candidates, response curves and importance."""
        return _build_section(self)


def build_search(result: SearchResult) -> SearchReport:
    """The candidates as the ledger leaves them, and what they say of the parameters."""
    course = SearchState(result.study, result.row.seed, result.candidates, result.rows)
    ahead = course.incumbent
    space = course.search.space
    response = estimate_response(space, course.candidate_results, course.policy, result.row.seed)
    return SearchReport(
        ended=result.outcome is not None,
        incumbent=None if ahead is None else result.candidates[ahead].label,
        workloads=tuple(request.label for request in result.study.workloads),
        candidates=tuple(
            CandidateReport(
                label=candidate.label,
                point=dict(candidate.point),
                standing=entrant.status,
                blocks=entrant.blocks,
                change=finite(as_fraction(entrant.estimate)),
                error=finite(as_fraction(entrant.error)),
                on=tuple(finite(as_fraction(ratio)) for ratio in entrant.by_workload),
                eligible=entrant.eligible,
                refused=candidate.refused,
            )
            for candidate, entrant in zip(result.candidates, course.race.entrants, strict=False)
        ),
        trials=course.spent.trials,
        curves=tuple(_list_effects(space, response)) if response else (),
        importance=tuple(
            ImportanceReport(
                parameter=share.parameter,
                share=share.share,
                interval=Span(low=share.low, high=share.high),
            )
            for share in (response.importance if response else ())
        ),
    )


def _list_effects(space: SearchSpace, response: ResponseModel) -> Iterator[MainEffectReport]:
    domains = {parameter.name: parameter.domain for parameter in space.parameters}
    for curve in response.curves:
        domain = domains[curve.parameter]
        ends = zip(curve.values, curve.effect, curve.low, curve.high, strict=True)
        yield MainEffectReport(
            parameter=curve.parameter,
            points=tuple(
                MainEffectPoint(
                    value=value,
                    change=as_fraction(effect),
                    interval=Span(low=as_fraction(low), high=as_fraction(high)),
                )
                for value, effect, low, high in ends
            ),
            is_range=isinstance(domain, Range),
            log=isinstance(domain, Range) and domain.log,
        )


def _build_section(search: SearchReport) -> Section:
    several = search.workloads if len(search.workloads) > 1 else ()
    candidates = make_table(
        (
            [
                ("candidate", candidate.label),
                (
                    "outcome",
                    "ahead" if candidate.label == search.incumbent else describe_outcome(candidate),
                ),
                ("blocks", candidate.blocks),
                ("against default", format_signed_change(candidate.change)),
                (
                    "± standard error",
                    UNKNOWN if candidate.error is None else format_percent(candidate.error),
                ),
                *(
                    (name, format_signed_change(change))
                    for name, change in zip(several, candidate.on, strict=False)
                ),
            ]
            for candidate in sorted(
                search.candidates,
                key=lambda candidate: (-candidate.blocks, -(candidate.change or 0)),
            )
        ),
        "every candidate",
        names=2,
    )
    importance = make_table(
        (
            {
                "parameter": share.parameter or "interactions",
                "share of explained variance": format_percent(share.share),
                "95 % interval": f"{format_percent(share.interval.low)} to "
                f"{format_percent(share.interval.high)}",
            }
            for share in sorted(search.importance, key=lambda share: -share.share)
        ),
        "parameter importance",
    )
    curves = (
        make_table(
            (
                {
                    curve.parameter: point.value,
                    "against default": format_change_interval(point.change, point.interval),
                }
                for point in curve.points
            ),
            f"response to {curve.parameter}",
        )
        for curve in search.curves
    )
    return Section(
        name="search",
        title="Search",
        notes=tuple(_known(search)),
        tables=(importance,) if search.importance else (),
        folded=(candidates, *curves),
        draw=lambda: [build_response_chart(curve, search) for curve in search.curves],
    )


def _known(search: SearchReport) -> Iterator[str]:
    """Extent of the search, and limits of its figures."""
    finished, refused = (
        sum(candidate.standing is standing for candidate in search.candidates)
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


def _draw_response(curve: MainEffectReport, points: Rows, candidates: Rows) -> Iterator[Spec]:
    """Yield a line with a band, or a mark and a bar for each name, and the candidates."""
    x = field("value:N", title=curve.parameter, axis={"labelAngle": 0}, sort=None)
    if curve.is_range:
        scale = {"type": "log" if curve.log else "linear", "zero": False, "nice": False}
        x = field("value:Q", title=curve.parameter, scale=scale)
    axis = {"labelExpr": "format(datum.value * 100, ',')"}
    low, change = (
        field(f"{name}:Q", title="against default, %", axis=axis) for name in ("low", "change")
    )
    band, middle = {"x": x, "y": low, "y2": "high"}, {"x": x, "y": change}
    if curve.is_range:
        yield layer(points, "area", band, color=BLUE, opacity=0.2)
        yield layer(points, "line", middle, color=BLUE)
    else:
        yield layer(points, "rule", band, color=BLUE, strokeWidth=2)
        yield layer(points, "tick", middle, color=BLUE, thickness=3, size=40)
    tooltip = [field(f"{name}:N") for name in ("candidate", "value", "blocks")]
    tooltip.append(field("change_text:N", title="change"))
    size = field("blocks:Q", legend=None, scale={"range": [20, 120]})
    point = middle | {"size": size, "tooltip": tooltip}
    yield layer(candidates, "point", point, filled=True, color=RED, opacity=0.7)


def describe_outcome(candidate: CandidateReport) -> str:
    """Describe the outcome of a candidate, with the reason."""
    match candidate.standing:
        case RaceStatus.RACING:
            return "still racing"
        case RaceStatus.WORSE:
            return "dropped: clearly worse"
        case RaceStatus.UNFIT:
            return "dropped: worse on a workload"
        case RaceStatus.REFUSED:
            return f"refused: {candidate.refused}"
        case RaceStatus.FINISHED:
            return "finished" if candidate.eligible else "finished; worse on a workload"
    assert_never(candidate.standing)


def build_response_chart(curve: MainEffectReport, search: SearchReport) -> Chart:
    """The curve with its interval; each candidate a point, the larger the more blocks it ran."""
    parse: Callable[[str], object] = float if curve.is_range else str
    best = max(curve.points, key=lambda point: point.change)
    points = [
        {
            "value": parse(point.value),
            "change": round_value(point.change),
            "low": round_value(point.interval.low),
            "high": round_value(point.interval.high),
        }
        for point in curve.points
    ]
    candidates = [
        {
            "candidate": candidate.label,
            "value": parse(candidate.point[curve.parameter]),
            "change": round_value(candidate.change),
            "blocks": candidate.blocks,
            "change_text": format_signed_change(candidate.change),
        }
        for candidate in search.candidates
        if candidate.change is not None and curve.parameter in candidate.point
    ]
    return Chart(
        spec=make_chart(_draw_response(curve, points, candidates), height=220),
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


TOPIC = Topic(
    SearchReport,
    "Candidates of a search; the other fields then describe the confirmation of its winner.",
    lambda study, rows: None,
)
"""The report of a search computes it with the candidates, which rows do not have."""
