"""Comparison of two studies."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from pydantic import FiniteFloat, JsonValue

from iostudy.analysis import unpaired
from iostudy.analysis.paired import as_fraction
from iostudy.analysis.rule import Rule
from iostudy.report.base import (
    DifferenceReport,
    Known,
    OnWorkload,
    Span,
    UnderConfiguration,
    Value,
    build_span,
    declare_schema,
)
from iostudy.report.formatting import (
    UNKNOWN,
    format_change_interval,
    format_fact,
    format_fact_name,
    format_figure,
    format_signed_change,
    format_time,
    join_words,
)
from iostudy.report.section import Document, Section, make_table
from iostudy.report.topics.configurations import build_configurations
from iostudy.results.comparisons import (
    collect_figures,
    collect_runs,
    compare_configurations,
    decision_rule,
    pair_runs,
    select_figures,
)
from iostudy.results.matching import find_differences, label_folders, match_studies
from iostudy.results.recommendation import is_undecided
from iostudy.results.recorded_study import RecordedStudy
from iostudy.study.model import WorkloadRequest
from iostudy.units import format_percent
from iostudy.workloads.definition import Figure


class ComparedStudy(Value):
    """One of the two studies."""

    place: str
    """Output folder of the study."""
    label: str
    """The end of the folder's path that distinguishes the two studies."""
    name: str
    """Name of the study: that of its file."""
    question: str
    """Question of the study file."""
    finished: bool
    """Whether every comparison of the study has a verdict or has used all its blocks."""
    started_at: FiniteFloat
    """Unix time in seconds."""


class ConfigurationMean(UnderConfiguration):
    """A configuration in one of the two studies."""

    value: FiniteFloat | None
    """Geometric mean over its counted trials, in the figure's unit; null if unknown."""
    trials: int
    """Number of counted trials."""


class StudyEffect(Value):
    """The effect of a configuration within one of the two studies."""

    change: Known
    """Mean paired change of the figure from the baseline of the study, as a fraction; null if
    unknown."""
    blocks: int
    """Number of paired blocks."""


class EffectDifference(DifferenceReport):
    """Difference of the effects of a configuration in the two studies.

    The change is that of the figure relative to the baselines, from the first study to the second.
    """

    first: StudyEffect
    """Effect in the first study."""
    second: StudyEffect
    """Effect in the second study."""


class ConfigurationComparison(OnWorkload):
    """Comparison of a configuration of the second study with one of the first."""

    figure: Figure
    """The compared figure."""
    is_guard: bool = False
    """Whether the figure does not decide in the first study, but must not get worse."""
    first: ConfigurationMean
    """Mean of the first study."""
    second: ConfigurationMean
    """Mean of the second study."""
    change: FiniteFloat | None
    """Change of the figure from the first study to the second, as a fraction; null if unknown. It
    contains all differences between the studies and has no verdict."""
    interval: Span | None
    """Confidence interval from the noise within the studies; it does not include differences
    between them."""
    effect: EffectDifference | None
    """Difference of the effects; null if there is none."""
    no_effect: str
    """Reason why the effects cannot be compared; empty if they are."""


class CircumstanceDifference(Value):
    """A circumstance in which the two studies differ."""

    name: str
    """Name of the circumstance."""
    first: str | None
    """Value in the first study; null if it has none."""
    second: str | None
    """Value in the second study; null if it has none."""


class StudyComparison(Value):
    """Comparison of two studies."""

    schema_name: Literal["iostudy.comparison/3"] = declare_schema("iostudy.comparison/3")
    first: ComparedStudy
    """The first study."""
    second: ComparedStudy
    """The second study."""
    margin: FiniteFloat
    """Equivalence margin, as a fraction."""
    risk: FiniteFloat
    """Probability of any wrong verdict, as a fraction."""
    compared: tuple[ConfigurationComparison, ...]
    """Comparisons of the configurations of both studies."""
    left_out: tuple[str, ...]
    """What cannot be compared, with the reason."""
    differences: tuple[CircumstanceDifference, ...]
    """Differences of circumstances, the most important first."""
    study_difference: str
    """Unified diff from the first study file to the second; empty if they are equal."""


Sides = tuple[RecordedStudy, RecordedStudy]


def build_comparison(
    first: RecordedStudy, second: RecordedStudy, requested: Sequence[str] = ()
) -> StudyComparison:
    """Compare the second study with the first.

    ``requested`` and the errors are those of `match_studies`.
    """
    sides = (first, second)
    parts = match_studies(first, second, requested)
    with_effect = [pair for pair in parts.configurations if not _missing_effect(pair, sides)]
    rule = unpaired.combine_rules(
        decision_rule(first.study),
        decision_rule(second.study),
        comparisons=max(1, len(parts.workloads) * len(with_effect)),
    )
    labels = label_folders([first.place, second.place])
    before, after = (side.row.text.splitlines() for side in sides)
    return StudyComparison(
        first=_side(first, labels[0]),
        second=_side(second, labels[1]),
        margin=rule.margin,
        risk=rule.risk,
        compared=tuple(
            _compared(workload, figure, pair, sides, rule)
            for workload in parts.workloads
            for figure in workload.figures
            for pair in parts.configurations
        ),
        left_out=parts.left_out,
        differences=tuple(
            CircumstanceDifference(
                name=" ".join(format_fact_name(part, None) for part in way),
                first=None if before is None else format_fact(before, way[-1]),
                second=None if after is None else format_fact(after, way[-1]),
            )
            for way, before, after in find_differences(
                _circumstances(first), _circumstances(second)
            )
        ),
        study_difference="\n".join(
            difflib.unified_diff(before, after, first.place, second.place, lineterm="")
        ),
    )


def _side(side: RecordedStudy, label: str) -> ComparedStudy:
    study = side.study
    results = compare_configurations(study, side.measured)
    finished = not any(is_undecided(study, result) for result in results)
    if not results:
        # A single configuration has nothing to decide and runs all its blocks.
        values = collect_figures(study, side.measured)
        alone = (values.get((w.label, study.baseline.label), {}) for w in study.workloads)
        finished = all(len(figures) >= study.decide.max_blocks for figures in alone)
    return ComparedStudy.copy_from(
        study, place=side.place, label=label, finished=finished, started_at=side.row.started_at
    )


def _compared(
    workload: WorkloadRequest, figure: Figure, pair: tuple[str, str], sides: Sides, rule: Rule
) -> ConfigurationComparison:
    means, logs = [], []
    for side, label in zip(sides, pair, strict=True):
        runs = collect_runs(side.study, side.measured).get((workload.label, label), {})
        values = list(select_figures(runs, figure.name).values())
        mean = math.exp(math.fsum(map(math.log, values)) / len(values)) if values else None
        means.append(ConfigurationMean(configuration=label, value=mean, trials=len(values)))
        logs.append(np.log(values))
    (first, second), reason = means, _missing_effect(pair, sides)
    return ConfigurationComparison(
        workload=workload.label,
        figure=figure,
        is_guard=figure != workload.figure,
        first=first,
        second=second,
        change=second.value / first.value - 1 if first.value and second.value else None,
        interval=build_span(unpaired.difference_interval(logs[0], logs[1], rule).as_fractions()),
        effect=None if reason else _effect(workload, figure, pair, sides, rule),
        no_effect=reason,
    )


def _missing_effect(pair: tuple[str, str], sides: Sides) -> str:
    """Return why the studies have no common effect of a configuration; empty if they have."""
    labels = label_folders([side.place for side in sides])
    single = [
        label
        for label, side in zip(labels, sides, strict=True)
        if len(side.study.configurations()) == 1
    ]
    if single:
        return f"{join_words(single)}: a study with a single configuration has no effect"
    first, second = (side.study.baseline for side in sides)
    if (first.label, first.settings) != (second.label, second.settings):
        return f"the baselines differ: {first.label} in {labels[0]}, {second.label} in {labels[1]}"
    if first.options.keys() != second.options.keys():
        names = [" and ".join(side.options) or "none" for side in (first, second)]
        return f"the options differ: {names[0]} in {labels[0]}, {names[1]} in {labels[1]}"
    if first.label in pair:
        return f"{first.label} is the baseline of the effects"
    return ""


def _effect(
    workload: WorkloadRequest, figure: Figure, pair: tuple[str, str], sides: Sides, rule: Rule
) -> EffectDifference:
    higher = figure.higher_is_better
    ours, theirs = (
        pair_runs(side.study, workload, figure, label, collect_runs(side.study, side.measured))
        for side, label in zip(sides, pair, strict=True)
    )
    comparison = unpaired.compare_effects(ours, theirs, higher_is_better=higher, rule=rule)
    first, second = (
        StudyEffect(change=as_fraction(effect if higher else -effect), blocks=blocks)
        for effect, blocks in zip(comparison.effects, comparison.blocks, strict=True)
    )
    return EffectDifference.copy_from(
        comparison, first=first, second=second, interval=comparison.change_interval
    )


def _circumstances(side: RecordedStudy) -> dict[str, JsonValue]:
    decide = side.study.decide
    settings: dict[str, dict[str, dict[str, None]]] = {}
    for configuration in build_configurations(side.study, side.rows):
        by_name = settings.setdefault(configuration.label, {})
        for place, values in configuration.read_back.items():
            by_name.setdefault(place.partition("@")[0], {}).update(dict.fromkeys(values))
    return {
        **side.row.circumstances,
        "started": format_time(side.row.started_at),
        "as root": side.row.root,
        "seed": side.row.seed,
        "actual settings": {
            label: {name: " or ".join(values) for name, values in by_name.items()}
            for label, by_name in settings.items()
        },
        "decide": {
            "margin": format_percent(decide.margin),
            "risk": format_percent(decide.risk),
            "blocks": f"{decide.min_blocks} to {decide.max_blocks}",
        },
        "validity": dict(side.study.validity.describe()),
    }


FIGURES_NOTE = (
    "No verdict is given on these figures. Time, host and disk state differ between the studies. "
    "They are part of every change here, but of no interval: days that deviate by 2 % often make "
    "equal studies differ. Means of several studies of each kind would show that deviation."
)
ONE_STUDY_NOTE = (
    "Run both configurations in one study for a verdict, or run the second study with the baseline "
    "of the first."
)


def build_comparison_document(comparison: StudyComparison) -> Document:
    """Effects with their verdicts, figures, and other circumstances."""
    notes = []
    for which, side in (("first", comparison.first), ("second", comparison.second)):
        ending = "" if side.finished else " It is not finished."
        started = f"started {format_time(side.started_at)}"
        about = f"{side.name} in {side.place}, {started}. {side.question}{ending}"
        notes.append(f"The {which} study, {side.label}: {about}")
    return Document(
        title=f"{comparison.first.label} and {comparison.second.label}",
        notes=tuple(notes),
        sections=tuple(_sections(comparison)),
        difference=comparison.study_difference,
    )


def _sections(comparison: StudyComparison) -> Iterator[Section]:
    first, second = comparison.first.label, comparison.second.label
    effects, figures = [], []
    for result in comparison.compared:
        before, after = result.first, result.second
        labels = dict.fromkeys((before.configuration, after.configuration))
        guard = f", {result.figure.name}" if result.is_guard else ""
        names = [("workload", f"{result.workload}{guard}"), ("configuration", " / ".join(labels))]
        if effect := result.effect:
            row = [
                *names,
                ("verdict", effect.says),
                ("change", format_change_interval(effect.change, effect.interval)),
                (f"in {first}", format_signed_change(effect.first.change)),
                (f"in {second}", format_signed_change(effect.second.change)),
                ("blocks", f"{effect.first.blocks} and {effect.second.blocks}"),
            ]
            effects.append(row)
        row = [
            *names,
            ("change", format_change_interval(result.change, result.interval)),
            (first, f"{format_figure(before.value)} {result.figure.unit}"),
            (second, f"{format_figure(after.value)} {result.figure.unit}"),
            ("trials", f"{before.trials} and {after.trials}"),
        ]
        figures.append(row)
    missing = dict.fromkeys(result.no_effect for result in comparison.compared if result.no_effect)
    note = f"No verdict is given: {join_words(list(missing))}. {ONE_STUDY_NOTE}" if missing else ""
    if effects:
        margin, risk = format_percent(comparison.margin), format_percent(comparison.risk)
        note = (
            "The effect of a configuration is its mean change from the baseline of its own study, "
            "in paired blocks, so that the deviation of a day or host cancels. The change is that "
            "of the effect. Intervals are Welch's, at a level that allows for the interim analyses "
            f"of both studies; margin {margin}, and a risk of {risk} for all of these verdicts "
            "together"
        )
        guards = any(result.is_guard and result.effect for result in comparison.compared)
        note += ", and as much again for each further figure." if guards else "."
    yield Section(
        "compared",
        f"{second} compared with {first}",
        (note,),
        tables=(make_table(effects, names=2),) if effects else (),
    )
    yield Section(
        "figures",
        "Figures",
        (FIGURES_NOTE, "Means are geometric, over all counted trials of a configuration."),
        tables=(make_table(figures, names=2),),
    )
    if comparison.left_out:
        reasons = make_table({"reason": reason} for reason in comparison.left_out)
        yield Section("left-out", "Not compared", tables=(reasons,))
    if comparison.differences:
        differences = (
            [
                ("circumstance", difference.name),
                (first, difference.first or UNKNOWN),
                (second, difference.second or UNKNOWN),
            ]
            for difference in comparison.differences
        )
        yield Section(
            "differences",
            "Other differences",
            ("Only differences are listed; a dash means no value.",),
            tables=(make_table(differences, names=3),),
        )
