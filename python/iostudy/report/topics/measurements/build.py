"""Other figures, latencies and parts of a workload (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from iostudy.analysis.rule import Rule
from iostudy.ledger.rows import MeasuredRow
from iostudy.report.base import FigureDescription
from iostudy.report.finite import build_span, finite
from iostudy.report.topics.measurements.means import Values, compare_means
from iostudy.report.topics.measurements.values import (
    FigureMean,
    LatencyReport,
    OtherFigure,
    PartReport,
    PartsReport,
)
from iostudy.results.comparisons import decision_rule
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.requests import apply_configuration
from iostudy.workloads import catalog
from iostudy.workloads.definition import Figure
from iostudy.workloads.measurement import Histogram
from iostudy.workloads.native.latency import percentiles_us, pool_histograms

Labels = tuple[tuple[str, str], ...]
ByPart = Mapping[Labels, Values]


def build_measurements(
    study: Study, request: WorkloadRequest, rows: Iterable[MeasuredRow]
) -> dict[str, Any]:
    """Other figures, latencies and parts of a workload, as fields of its WorkloadReport."""
    counted: dict[str, list[MeasuredRow]] = {c.label: [] for c in study.configurations()}
    for row in rows:
        if row.counts and row.workload == request.label and row.configuration in counted:
            counted[row.configuration].append(row)
    rule = decision_rule(study)
    definition = catalog.get(request.name)
    verdict_figures = [figure.name for figure in request.figures]
    return {
        "others": tuple(
            _other(figure, counted, rule)
            for figure in _known(study, request, definition.figures)
            if figure.name not in verdict_figures
        ),
        "latencies": tuple(_latencies(counted)),
        "parts": tuple(
            each
            for figure in _known(study, request, definition.part_figures)
            if (each := _parts(figure, counted, rule)).parts
        ),
    }


def describe_figure(figure: Figure) -> FigureDescription:
    """A figure of a definition as a value of the report."""
    return FigureDescription(
        name=figure.name,
        unit=figure.unit,
        documentation=figure.documentation,
        higher_is_better=figure.higher_is_better,
    )


def _known(
    study: Study, request: WorkloadRequest, figures: Callable[[Any], tuple[Figure, ...]]
) -> tuple[Figure, ...]:
    """The figures under any configuration of the study: what varies may be what is measured."""
    options = [apply_configuration(request, each) for each in study.configurations()]
    return tuple({each.name: each for own in options for each in figures(own)}.values())


def _other(figure: Figure, counted: Mapping[str, list[MeasuredRow]], rule: Rule) -> OtherFigure:
    values = {label: _by_block(figure.name, rows) for label, rows in counted.items()}
    baseline = next(iter(values))
    means = (_mean(label, baseline, values, rule) for label in values)
    return OtherFigure(figure=describe_figure(figure), means=tuple(means))


def _by_block(name: str, rows: Iterable[MeasuredRow]) -> Values:
    return {r.block: r.figures[name] for r in rows if r.figures is not None and name in r.figures}


def _mean(label: str, baseline: str, values: Mapping[str, Values], rule: Rule) -> FigureMean:
    found = compare_means(values[baseline], values[label], rule)
    if found is None or label == baseline:
        mean = None if found is None else finite(found.mean)
        return FigureMean(configuration=label, value=mean, change=None, interval=None)
    interval = found.interval
    return FigureMean(
        configuration=label,
        value=finite(found.mean),
        change=finite(found.change),
        interval=None if interval is None else build_span(interval.as_fractions()),
    )


def _latencies(counted: Mapping[str, list[MeasuredRow]]) -> Iterable[LatencyReport]:
    """Operation by operation, the configurations next to each other."""
    every = (row for rows in counted.values() for row in rows)
    for operation in dict.fromkeys(name for row in every for name in row.latencies or {}):
        for label, rows in counted.items():
            own = [found for row in rows if (found := (row.latencies or {}).get(operation))]
            if own:
                yield _latency(operation, label, own)


def _latency(operation: str, label: str, histograms: Sequence[Histogram]) -> LatencyReport:
    histogram = pool_histograms(histograms)
    upper_us, counts = zip(*histogram, strict=True)
    return LatencyReport(
        operation=operation,
        configuration=label,
        trials=len(histograms),
        count=sum(counts),
        percentiles_us=percentiles_us(histogram),
        upper_us=upper_us,
        counts=counts,
    )


def _parts(figure: Figure, counted: Mapping[str, list[MeasuredRow]], rule: Rule) -> PartsReport:
    by_configuration = [_by_part(figure.name, rows) for rows in counted.values()]
    every = dict.fromkeys(labels for parts in by_configuration for labels in parts)
    return PartsReport(
        figure=describe_figure(figure),
        configurations=tuple(counted),
        parts=tuple(_part(labels, by_configuration, rule) for labels in every),
    )


def _by_part(name: str, rows: Iterable[MeasuredRow]) -> ByPart:
    """Labels -> block -> figure."""
    found: dict[Labels, dict[int, float]] = {}
    for row in rows:
        for part in row.parts:
            if name in part.figures:
                own = found.setdefault(tuple(part.labels.items()), {})
                own[row.block] = part.figures[name]
    return found


def _part(labels: Labels, by_configuration: Sequence[ByPart], rule: Rule) -> PartReport:
    baseline = by_configuration[0].get(labels, {})
    means = [compare_means(baseline, own.get(labels, {}), rule) for own in by_configuration]
    return PartReport(
        labels=dict(labels),
        values=tuple(None if m is None else finite(m.mean) for m in means),
        changes=(None, *(None if m is None else finite(m.change) for m in means[1:])),
    )
