"""What others have published, beside the user's own figures of the same name (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from iostudy.conduct.standing import rule_of
from iostudy.ledger.rows import TrialRow
from iostudy.report.finite import span
from iostudy.report.means import paired
from iostudy.report.values import OrderTold, OwnTold, PublishedTold, ReferenceTold
from iostudy.study import reference
from iostudy.study.model import Study
from iostudy.study.reference import Publication, PublishedFigure, PublishedOrder
from iostudy.workloads import catalog


def told(study: Study, rows: Sequence[TrialRow]) -> ReferenceTold | None:
    """The publication that the study names, with the study's own figures; None where it has none.

    A study's own figures stand beside published ones of the same configuration, by its label, and
    of the same workload, by its label or name. Their intervals are the study's t intervals.
    """
    if study.reference is None:
        return None
    published = reference.get(study.reference)
    return ReferenceTold(
        name=study.reference,
        title=published.title,
        kind=published.kind,
        year=published.year,
        source=published.source,
        circumstances=published.circumstances,
        caveats=published.caveats,
        open_questions=published.open_questions,
        baseline=published.baseline,
        orders=tuple(
            OrderTold(where=ranked.where, order=ranked.order)
            for ranked in published.orders
            if _has_several(study, published, ranked)
        ),
        figures=tuple(_figure(figure, published, study, rows) for figure in published.figures),
    )


def _figure(
    figure: PublishedFigure, published: Publication, study: Study, rows: Sequence[TrialRow]
) -> PublishedTold:
    base = published.baseline_value(figure)
    is_baseline = figure.configuration == published.baseline
    return PublishedTold(
        configuration=figure.configuration,
        baseline=is_baseline,
        workload=figure.workload,
        figure=figure.figure,
        unit=figure.unit,
        value=figure.value,
        runs=figure.runs,
        change=None if is_baseline or not base else figure.value / base - 1,
        own=_own(figure, published, study, rows),
    )


def _own(
    figure: PublishedFigure, published: Publication, study: Study, rows: Sequence[TrialRow]
) -> OwnTold | None:
    """Means over the blocks that both configurations have run, as in the verdicts."""
    label, base_label = (
        _label(study, published, name) for name in (figure.configuration, published.baseline)
    )
    own, base = (_values(study, rows, figure, each) for each in (label, base_label))
    found = paired(base, own, rule_of(study).repeated_alpha)
    if found is None:
        return None
    is_baseline = figure.configuration == published.baseline
    interval = None if is_baseline else found.interval
    return OwnTold(
        configuration=label,
        unit=_unit(study, figure),
        value=found.mean,
        blocks=found.blocks,
        change=None if is_baseline else found.change,
        interval=None if interval is None else span(interval.as_fractions()),
    )


def _has_several(study: Study, published: Publication, ranked: PublishedOrder) -> bool:
    """Whether the study compares at least two of those that were ranked."""
    labels = {configuration.label for configuration in study.configurations()}
    return len(labels & {_label(study, published, name) for name in ranked.order}) > 1


def _label(study: Study, published: Publication, name: str) -> str:
    """What a published configuration is called in the study, where that has one of its own name."""
    if any(configuration.label == name for configuration in study.configurations()):
        return name
    return published.counterparts.get(name, name)


def _unit(study: Study, figure: PublishedFigure) -> str:
    request = next(w for w in study.workloads if figure.workload in (w.label, w.name))
    return catalog.get(request.name).figure(figure.figure, request.options).unit


def _values(
    study: Study, rows: Sequence[TrialRow], figure: PublishedFigure, configuration: str
) -> dict[int, float]:
    """Block -> the figure of the trials that count, where it has a logarithm."""
    labels = [w.label for w in study.workloads if figure.workload in (w.label, w.name)][:1]
    found = {
        row.block: (row.figures or {}).get(figure.figure, 0.0)
        for row in rows
        if row.counts and row.workload in labels and row.configuration == configuration
    }
    return {block: value for block, value in found.items() if value > 0}
