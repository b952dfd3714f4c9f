"""Comparison of two studies (pure)."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence

import numpy as np
from pydantic import JsonValue

from iostudy.analysis import unpaired
from iostudy.analysis.paired import as_fraction
from iostudy.analysis.rule import Rule
from iostudy.report.documents.comparison.circumstances import find_differences
from iostudy.report.documents.comparison.matching import match_studies
from iostudy.report.documents.comparison.values import (
    CircumstanceDifference,
    ComparedStudy,
    ConfigurationComparison,
    ConfigurationMean,
    EffectDifference,
    StudyComparison,
    StudyEffect,
)
from iostudy.report.documents.folder_labels import label_folders
from iostudy.report.finite import build_span, finite
from iostudy.report.formatting import format_fact, format_fact_name, format_time, join_words
from iostudy.report.recorded_study import RecordedStudy
from iostudy.report.topics.measurements.build import describe_figure
from iostudy.report.topics.verdicts.configurations import build_configurations
from iostudy.results.comparisons import (
    collect_figures,
    collect_runs,
    compare_configurations,
    decision_rule,
    pair_runs,
    select_figures,
)
from iostudy.results.recommendation import is_undecided
from iostudy.study.model import WorkloadRequest
from iostudy.units import format_percent
from iostudy.workloads.definition import Figure

Sides = tuple[RecordedStudy, RecordedStudy]


def build_comparison(
    first: RecordedStudy, second: RecordedStudy, requested: Sequence[str] = ()
) -> StudyComparison:
    """Compare the second study with the first.

    ``requested`` and the errors are those of `match_studies`.
    """
    sides = (first, second)
    found = match_studies(first, second, requested)
    with_effect = [pair for pair in found.configurations if not _missing_effect(pair, sides)]
    rule = unpaired.combine_rules(
        decision_rule(first.study),
        decision_rule(second.study),
        comparisons=max(1, len(found.workloads) * len(with_effect)),
    )
    labels = label_folders([first.place, second.place])
    return StudyComparison(
        first=_side(first, labels[0]),
        second=_side(second, labels[1]),
        margin=rule.margin,
        risk=rule.risk,
        compared=tuple(
            _compared(workload, figure, pair, sides, rule)
            for workload in found.workloads
            for figure in workload.figures
            for pair in found.configurations
        ),
        left_out=found.left_out,
        differences=_differences(first, second),
        study_difference=_study_difference(first, second),
    )


def _side(side: RecordedStudy, label: str) -> ComparedStudy:
    return ComparedStudy(
        place=side.place,
        label=label,
        name=side.study.name,
        question=side.study.question,
        finished=_is_finished(side),
        started_at=side.row.started_at,
    )


def _is_finished(side: RecordedStudy) -> bool:
    """A single configuration has nothing to decide and runs all its blocks."""
    found = compare_configurations(side.study, side.measured)
    if found:
        return not any(is_undecided(side.study, each) for each in found)
    values = collect_figures(side.study, side.measured)
    alone = (values.get((w.label, side.study.baseline.label), {}) for w in side.study.workloads)
    return all(len(own) >= side.study.decide.max_blocks for own in alone)


def _compared(
    workload: WorkloadRequest, figure: Figure, pair: tuple[str, str], sides: Sides, rule: Rule
) -> ConfigurationComparison:
    ours, theirs = (
        _figures(side, workload, figure, label) for side, label in zip(sides, pair, strict=True)
    )
    logs = np.log(ours), np.log(theirs)
    interval = unpaired.difference_interval(*logs, rule)
    first, second = _mean(pair[0], ours), _mean(pair[1], theirs)
    reason = _missing_effect(pair, sides)
    return ConfigurationComparison(
        workload=workload.label,
        figure=describe_figure(figure),
        is_guard=figure != workload.figure,
        first=first,
        second=second,
        change=second.value / first.value - 1 if first.value and second.value else None,
        interval=build_span(interval.as_fractions()),
        effect=None if reason else _effect(workload, figure, pair, sides, rule),
        no_effect=reason,
    )


def _missing_effect(pair: tuple[str, str], sides: Sides) -> str:
    """Return why the studies have no common effect of a configuration; empty if they have."""
    labels = label_folders([side.place for side in sides])
    alone = [
        label
        for label, side in zip(labels, sides, strict=True)
        if len(side.study.configurations()) == 1
    ]
    if alone:
        return f"{join_words(alone)}: a study with a single configuration has no effect"
    first, second = (side.study.baseline for side in sides)
    if (first.label, first.settings) != (second.label, second.settings):
        return f"the baselines differ: {first.label} in {labels[0]}, {second.label} in {labels[1]}"
    if first.label in pair:
        return f"{first.label} is the baseline of the effects"
    return ""


def _effect(
    workload: WorkloadRequest, figure: Figure, pair: tuple[str, str], sides: Sides, rule: Rule
) -> EffectDifference:
    higher_is_better = figure.higher_is_better
    ours, theirs = (
        pair_runs(side.study, workload, figure, label, collect_runs(side.study, side.measured))
        for side, label in zip(sides, pair, strict=True)
    )
    found = unpaired.compare_effects(ours, theirs, higher_is_better=higher_is_better, rule=rule)
    first, second = (
        StudyEffect(
            change=finite(as_fraction(effect if higher_is_better else -effect)), blocks=blocks
        )
        for effect, blocks in zip(found.effects, found.blocks, strict=True)
    )
    return EffectDifference(
        first=first,
        second=second,
        change=finite(found.change),
        interval=build_span(found.change_interval),
        verdict=found.verdict,
        by_margin=found.by_margin,
    )


def _figures(
    side: RecordedStudy, workload: WorkloadRequest, figure: Figure, label: str
) -> list[float]:
    runs = collect_runs(side.study, side.measured).get((workload.label, label), {})
    return list(select_figures(runs, figure.name).values())


def _mean(label: str, figures: Sequence[float]) -> ConfigurationMean:
    mean = math.exp(math.fsum(map(math.log, figures)) / len(figures)) if figures else None
    return ConfigurationMean(configuration=label, value=mean, trials=len(figures))


def _differences(first: RecordedStudy, second: RecordedStudy) -> tuple[CircumstanceDifference, ...]:
    found = find_differences(_circumstances(first), _circumstances(second))
    return tuple(
        CircumstanceDifference(
            name=" ".join(format_fact_name(part, None) for part in each.way),
            first=_text(each.first, each.way[-1]),
            second=_text(each.second, each.way[-1]),
        )
        for each in found
    )


def _text(value: JsonValue, name: str) -> str | None:
    return None if value is None else format_fact(value, name)


def _circumstances(side: RecordedStudy) -> dict[str, JsonValue]:
    """Return the circumstances of the host and of the study."""
    decide = side.study.decide
    return {
        **side.row.circumstances,
        "started": format_time(side.row.started_at),
        "as root": side.row.root,
        "seed": side.row.seed,
        "actual settings": {
            own.label: _read_back(own.read_back)
            for own in build_configurations(side.study, side.rows)
        },
        "decide": {
            "margin": format_percent(decide.margin),
            "risk": format_percent(decide.risk),
            "blocks": f"{decide.min_blocks} to {decide.max_blocks}",
        },
        "validity": dict(side.study.validity.describe()),
    }


def _read_back(found: dict[str, tuple[str, ...]]) -> dict[str, JsonValue]:
    """Return the settings without places, whose names do not matter here."""
    by_name: dict[str, tuple[str, ...]] = {}
    for label, values in found.items():
        name = label.partition("@")[0]
        by_name[name] = tuple(dict.fromkeys((*by_name.get(name, ()), *values)))
    return {name: " or ".join(values) for name, values in by_name.items()}


def _study_difference(first: RecordedStudy, second: RecordedStudy) -> str:
    before, after = (side.row.text.splitlines() for side in (first, second))
    lines = difflib.unified_diff(before, after, first.place, second.place, lineterm="")
    return "\n".join(lines)
