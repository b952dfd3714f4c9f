"""Candidates, responses and importance of a search (pure)."""

from __future__ import annotations

from iostudy.analysis.paired import as_fraction
from iostudy.analysis.search.race import Entrant
from iostudy.analysis.search.response import (
    Importance,
    MainEffectCurve,
    ResponseModel,
    estimate_response,
)
from iostudy.analysis.search.space import Range, SearchSpace
from iostudy.ledger.search_result import SearchResult
from iostudy.report.base import Span
from iostudy.report.finite import finite
from iostudy.report.topics.search.values import (
    CandidateReport,
    ImportanceReport,
    MainEffectPoint,
    MainEffectReport,
    SearchReport,
)
from iostudy.results.search_state import SearchState
from iostudy.study.search import Candidate


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
