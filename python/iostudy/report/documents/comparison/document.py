"""Comparison of two studies as a document for every renderer."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report.documents.comparison.values import (
    ComparedStudy,
    ConfigurationComparison,
    EffectDifference,
    StudyComparison,
)
from iostudy.report.formatting import (
    UNKNOWN,
    format_change_interval,
    format_figure,
    format_signed_change,
    format_time,
    join_words,
)
from iostudy.report.section import Document, Listing, Section
from iostudy.report.text_table import TextTable
from iostudy.units import format_percent

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
    return Document(
        title=f"{comparison.first.label} and {comparison.second.label}",
        notes=(
            f"The first study, {comparison.first.label}: {_side(comparison.first)}",
            f"The second study, {comparison.second.label}: {_side(comparison.second)}",
        ),
        sections=tuple(_sections(comparison)),
        listing=_listing(comparison),
    )


def _side(side: ComparedStudy) -> str:
    ending = "" if side.finished else " It is not finished."
    started = format_time(side.started_at)
    return f"{side.name} in {side.place}, started {started}. {side.question}{ending}"


def _sections(comparison: StudyComparison) -> Iterator[Section]:
    yield Section(
        name="compared",
        title=f"{comparison.second.label} compared with {comparison.first.label}",
        notes=tuple(_describe_effects(comparison)),
        tables=tuple(_effect_tables(comparison)),
    )
    yield Section(
        name="figures",
        title="Figures",
        notes=(FIGURES_NOTE, "Means are geometric, over all counted trials of a configuration."),
        tables=(_figure_table(comparison),),
    )
    if comparison.left_out:
        rows = [(reason,) for reason in comparison.left_out]
        table = TextTable("", ("reason",), rows, names=1)
        yield Section(name="left-out", title="Not compared", tables=(table,))
    if comparison.differences:
        heads = ("circumstance", comparison.first.label, comparison.second.label)
        rows_of = [(d.name, _shown(d.first), _shown(d.second)) for d in comparison.differences]
        yield Section(
            name="differences",
            title="Other differences",
            notes=("Only differences are listed; a dash means no value.",),
            tables=(TextTable("", heads, rows_of, names=3),),
        )


def _shown(text: str | None) -> str:
    return UNKNOWN if text is None else text


def _effect_tables(comparison: StudyComparison) -> Iterator[TextTable]:
    rows = [_effect_row(each, each.effect) for each in comparison.compared if each.effect]
    if rows:
        effects = (f"in {side.label}" for side in (comparison.first, comparison.second))
        heads = ("workload", "configuration", *effects, "change", "verdict", "blocks")
        yield TextTable("", heads, rows, names=2)


def _effect_row(each: ConfigurationComparison, effect: EffectDifference) -> tuple[str, ...]:
    return (
        _title(each),
        _configuration(each),
        format_signed_change(effect.first.change),
        format_signed_change(effect.second.change),
        format_change_interval(effect.change, effect.interval),
        f"{effect.verdict} by ≥ margin" if effect.by_margin else str(effect.verdict),
        f"{effect.first.blocks} and {effect.second.blocks}",
    )


def _figure_table(comparison: StudyComparison) -> TextTable:
    sides = (comparison.first.label, comparison.second.label)
    heads = ("workload", "configuration", "change", *sides, "trials")
    rows = [_figure_row(each) for each in comparison.compared]
    return TextTable("", heads, rows, names=2)


def _figure_row(each: ConfigurationComparison) -> tuple[str, ...]:
    unit = each.figure.unit
    values = (f"{format_figure(m.value)} {unit}" for m in (each.first, each.second))
    return (
        _title(each),
        _configuration(each),
        format_change_interval(each.change, each.interval),
        *values,
        f"{each.first.trials} and {each.second.trials}",
    )


def _title(each: ConfigurationComparison) -> str:
    return f"{each.workload}, {each.figure.name}" if each.is_guard else each.workload


def _configuration(each: ConfigurationComparison) -> str:
    first, second = each.first.configuration, each.second.configuration
    return first if first == second else f"{first} / {second}"


def _describe_effects(comparison: StudyComparison) -> Iterator[str]:
    missing = dict.fromkeys(each.no_effect for each in comparison.compared if not each.effect)
    if any(each.effect for each in comparison.compared):
        margin, risk = format_percent(comparison.margin), format_percent(comparison.risk)
        yield (
            "The effect of a configuration is its mean change from the baseline of its own study, "
            "in paired blocks, so that the deviation of a day or host cancels. The change is that "
            "of the effect. Intervals are Welch's, at a level that allows for the interim analyses "
            f"of both studies; margin {margin}, and a risk of {risk} for all of these verdicts "
            "together."
        )
    else:
        yield f"No verdict is given: {join_words(list(missing))}. {ONE_STUDY_NOTE}"


def _listing(comparison: StudyComparison) -> Listing | None:
    if not comparison.study_difference:
        return None
    return Listing("Differences between the study files", comparison.study_difference, "diff")
