"""Comparison of two studies (pure)."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Sequence

import numpy as np
from pydantic import JsonValue

from iostudy.analysis import unpaired
from iostudy.analysis.paired import Array
from iostudy.analysis.series import Flag
from iostudy.analysis.verdict import Rule, Verdict
from iostudy.report.documents.comparison.circumstances import find_differences
from iostudy.report.documents.comparison.matching import match_studies
from iostudy.report.documents.comparison.values import (
    CircumstanceDifference,
    ComparedStudy,
    ConfigurationComparison,
    ConfigurationMean,
    PairingLoss,
    StudyComparison,
)
from iostudy.report.documents.folder_labels import label_folders
from iostudy.report.finite import build_span, finite
from iostudy.report.formatting import format_fact, format_fact_name, format_time
from iostudy.report.recorded_study import RecordedStudy
from iostudy.report.topics.caveats.build import compute_shared_level, find_flags
from iostudy.report.topics.covariates.build import covariate_values
from iostudy.report.topics.measurements.build import describe_figure
from iostudy.report.topics.verdicts.configurations import build_configurations
from iostudy.results.comparisons import collect_figures, compare_configurations, decision_rule
from iostudy.results.recommendation import is_undecided
from iostudy.study.model import WorkloadRequest
from iostudy.units import format_percent

Sides = tuple[RecordedStudy, RecordedStudy]


def build_comparison(
    first: RecordedStudy, second: RecordedStudy, requested: Sequence[str] = ()
) -> StudyComparison:
    """Compare the second study with the first.

    ``requested`` and the errors are those of `match_studies`.
    """
    sides = (first, second)
    found = match_studies(first, second, requested)
    rule = unpaired.combine_rules(
        decision_rule(first.study),
        decision_rule(second.study),
        comparisons=len(found.workloads) * len(found.configurations),
    )
    labels = label_folders([first.place, second.place])
    return StudyComparison(
        first=_side(first, labels[0]),
        second=_side(second, labels[1]),
        margin=rule.margin,
        risk=rule.risk,
        compared=tuple(
            _compared(workload, pair, sides, rule)
            for workload in found.workloads
            for pair in found.configurations
        ),
        costs=tuple(_costs(found.workloads, sides)),
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
    workload: WorkloadRequest, pair: tuple[str, str], sides: Sides, rule: Rule
) -> ConfigurationComparison:
    """A verdict is withheld where a study's figures are not independent: see docs/method.md."""
    ours, theirs = (
        _figures(side, workload, label) for side, label in zip(sides, pair, strict=True)
    )
    found = unpaired.compare(
        ours, theirs, higher_is_better=workload.figure.higher_is_better, rule=rule
    )
    raised = tuple(flag for flag in Flag if any(flag in _flags(side, workload) for side in sides))
    return ConfigurationComparison(
        workload=workload.label,
        figure=describe_figure(workload.figure),
        first=_mean(pair[0], ours),
        second=_mean(pair[1], theirs),
        change=finite(found.change),
        interval=build_span(found.change_interval),
        verdict=Verdict.INCONCLUSIVE if raised else found.verdict,
        by_margin=found.by_margin and not raised,
        flags=raised,
    )


def _figures(side: RecordedStudy, workload: WorkloadRequest, label: str) -> list[float]:
    return list(
        collect_figures(side.study, side.measured).get((workload.label, label), {}).values()
    )


def _flags(side: RecordedStudy, workload: WorkloadRequest) -> tuple[Flag, ...]:
    shared = compute_shared_level(side.study, covariate_values(side.study, side.rows))
    return find_flags(workload.label, workload.figure.name, side.measured, shared)


def _mean(label: str, figures: Sequence[float]) -> ConfigurationMean:
    mean = math.exp(math.fsum(map(math.log, figures)) / len(figures)) if figures else None
    return ConfigurationMean(configuration=label, value=mean, trials=len(figures))


def _costs(workloads: Sequence[WorkloadRequest], sides: Sides) -> Iterator[PairingLoss]:
    for workload in workloads:
        pairs = [pair for side in sides for pair in _pairs(workload.label, side)]
        times = unpaired.interval_width_ratio(pairs)
        if times is not None:
            yield PairingLoss(
                workload=workload.label, times_as_wide=times, times_as_many_blocks=times**2
            )


def _pairs(workload: str, side: RecordedStudy) -> Iterator[tuple[Array, Array]]:
    """The log figures of the baseline and of each other configuration in their common blocks."""
    values = collect_figures(side.study, side.measured)
    base = values.get((workload, side.study.baseline.label), {})
    for configuration in side.study.configurations()[1:]:
        own = values.get((workload, configuration.label), {})
        common = sorted(base.keys() & own.keys())
        yield np.log([base[block] for block in common]), np.log([own[block] for block in common])


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
