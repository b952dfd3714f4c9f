"""Published figures with the study's own figures of the same name (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from iostudy.ledger.rows import TrialRow
from iostudy.report.finite import build_span
from iostudy.report.topics.measurements.means import compare_means
from iostudy.report.topics.reference.values import (
    MeasuredCounterpart,
    PublishedFigureReport,
    PublishedOrderReport,
    ReferenceReport,
)
from iostudy.results.comparisons import decision_rule
from iostudy.study import reference
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.reference import Publication, PublishedFigure, PublishedOrder
from iostudy.workloads import catalog


def build_publication(name: str) -> ReferenceReport:
    """A publication by itself, with none of a study's own figures."""
    published = reference.get(name)
    return ReferenceReport(
        name=name,
        title=published.title,
        kind=published.kind,
        year=published.year,
        source=published.source,
        circumstances=published.circumstances,
        caveats=published.caveats,
        open_questions=published.open_questions,
        baseline=published.baseline,
        orders=tuple(
            PublishedOrderReport(where=own.where, order=own.order) for own in published.orders
        ),
        figures=tuple(_figure(figure, published) for figure in published.figures),
    )


def build_reference(study: Study, rows: Sequence[TrialRow]) -> ReferenceReport | None:
    """Return the study's publication with the study's own figures; None without one.

    Published figures are matched with configurations by label and with workloads by label or
    name. Figures of Hadoop's own program follow where the workload models it. Their intervals
    are the study's t intervals.
    """
    if study.reference is None:
        return None
    published, whole = reference.get(study.reference), build_publication(study.reference)
    orders = zip(whole.orders, published.orders, strict=True)
    return whole.model_copy(
        update={
            "orders": tuple(each for each, o in orders if _has_several(study, published, o)),
            "figures": tuple(_with_own_figures(whole.figures, published, study, rows)),
        }
    )


def _figure(figure: PublishedFigure, published: Publication) -> PublishedFigureReport:
    base = published.baseline_value(figure)
    is_baseline = figure.configuration == published.baseline
    return PublishedFigureReport(
        configuration=figure.configuration,
        baseline=is_baseline,
        workload=figure.workload,
        figure=figure.figure,
        unit=figure.unit,
        value=figure.value,
        runs=figure.runs,
        load="" if figure.load is None else f"{figure.load:g} {published.load}",
        change=None if is_baseline or not base else figure.value / base - 1,
        own=None,
    )


def _with_own_figures(
    figures: Sequence[PublishedFigureReport],
    published: Publication,
    study: Study,
    rows: Sequence[TrialRow],
) -> Iterator[PublishedFigureReport]:
    pairs = list(zip(figures, published.figures, strict=True))
    for each, figure in pairs:
        request = _request(study, published, figure, figure.is_of)
        own = None if request is None else _own(figure, published, study, rows, request)
        yield each.model_copy(update={"own": own})
    for each, figure in pairs:
        request = _request(study, published, figure, figure.is_by_hadoop)
        if request is not None:
            own = _own(figure, published, study, rows, request)
            yield each.model_copy(update={"workload": request.listed_as, "own": own})


def _own(
    figure: PublishedFigure,
    published: Publication,
    study: Study,
    rows: Sequence[TrialRow],
    request: WorkloadRequest,
) -> MeasuredCounterpart | None:
    """Means over the blocks that both configurations have run, as in the verdicts."""
    label, base_label = (
        _label(study, published, name) for name in (figure.configuration, published.baseline)
    )
    own, base = (_values(rows, request, figure.figure, each) for each in (label, base_label))
    found = compare_means(base, own, decision_rule(study).repeated_alpha)
    if found is None:
        return None
    is_baseline = label == base_label
    interval = None if is_baseline else found.interval
    return MeasuredCounterpart(
        configuration=label,
        unit=catalog.get(request.name).figure(figure.figure, request.options).unit,
        value=found.mean,
        blocks=found.blocks,
        change=None if is_baseline else found.change,
        interval=None if interval is None else build_span(interval.as_fractions()),
    )


def _has_several(study: Study, published: Publication, ranked: PublishedOrder) -> bool:
    """Whether the study compares at least two of those that were ranked."""
    labels = {configuration.label for configuration in study.configurations()}
    return len(labels & {_label(study, published, name) for name in ranked.order}) > 1


def _label(study: Study, published: Publication, name: str) -> str:
    """Return the study's name of a published configuration."""
    if any(configuration.label == name for configuration in study.configurations()):
        return name
    return published.counterparts.get(name, name)


def _request(
    study: Study,
    published: Publication,
    figure: PublishedFigure,
    matches: Callable[[WorkloadRequest], bool],
) -> WorkloadRequest | None:
    """The study's first workload that a figure matches, at the same load; None without any."""
    return next(
        (
            own
            for own in study.workloads
            if matches(own) and figure.load in (None, getattr(own.options, published.load, None))
        ),
        None,
    )


def _values(
    rows: Sequence[TrialRow], request: WorkloadRequest, figure: str, configuration: str
) -> dict[int, float]:
    """Block -> the figure of the trials that count, where it has a logarithm."""
    found = {
        row.block: (row.figures or {}).get(figure, 0.0)
        for row in rows
        if row.counts and row.workload == request.label and row.configuration == configuration
    }
    return {block: value for block, value in found.items() if value > 0}
