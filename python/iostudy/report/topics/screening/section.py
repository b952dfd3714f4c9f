"""Report section on factor effects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iostudy.report.formatting import (
    UNKNOWN,
    format_change_interval,
    format_signed_change,
    join_words,
)
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.screening.values import (
    AliasReport,
    EffectReport,
    OmnibusReport,
    ScreeningReport,
)
from iostudy.report.values import Report
from iostudy.units import format_percent

_MOST_NAMED = 6
"""More interactions than these are counted."""


def build_screening_section(report: Report) -> Section | None:
    """Return every effect with Holm's result, the aliases, and the next steps."""
    text = report.screening
    if text is None:
        return None
    several = len(report.workloads) > 1
    shut = (_interactions(text, several=several), _aliases(text.aliases), _omnibus(text.omnibus))
    return Section(
        name="screening",
        title="Factor effects",
        notes=tuple(_known(text, report)),
        tables=(_effects("", text.effects, several=several),),
        folded=tuple(table for table in shut if table is not None),
    )


def _known(screening: ScreeningReport, report: Report) -> Iterator[str]:
    risk = format_percent(report.method.risk)
    yield (
        f"A {screening.design} design of {screening.runs} runs, each once per block. An effect "
        "compares a level with the first level of its factor, averaged over the levels of all "
        "other factors. Its error is estimated from the blocks, not from the model. All intervals "
        f"hold together, with an error rate of {risk}. p is adjusted for all effects (Holm) and "
        f"for interim analyses: an effect with p up to {risk} is significant. Holm's step can find "
        "an effect whose interval contains zero."
    )
    yield _alias_note(screening)
    yield from _prediction(screening)


def _alias_note(screening: ScreeningReport) -> str:
    if screening.interactions:
        return (
            "No effect is aliased with a two-factor interaction, and the interactions are "
            "estimated: the joint effect of two levels beyond their separate effects, with the "
            "same risk once more."
        )
    if not screening.aliases:
        return (
            "No effect is aliased with a two-factor interaction. The design cannot estimate the "
            "interactions."
        )
    return (
        f"{len(screening.aliases)} effects are aliased with two-factor interactions (see the table "
        "of aliases): large interactions look like effects, or hide them."
    )


def _prediction(screening: ScreeningReport) -> Iterator[str]:
    best = screening.predicted
    if best is None:
        yield "No level is shown to be better than the first of its factor."
        return
    levels = ", ".join(f"{name}={level}" for name, level in best.levels.items())
    changes = join_words(
        [f"{format_signed_change(change)} on {name}" for name, change in best.changes.items()]
    )
    run = "was one of the runs, but with no verdict of its own" if best.was_run else "was never run"
    yield (
        f"Predicted best: {levels}, all others at their first level; {changes} if effects add up. "
        f"It {run}, and a prediction from the same data is optimistic. To measure it, replace "
        "`design` with this in a copy of the study file, and run it:"
    )
    yield best.confirm


def _effects(title: str, effects: Sequence[EffectReport], *, several: bool) -> TextTable:
    heads = ("level", "against", *(("workload",) if several else ()))
    return TextTable(
        title,
        (*heads, "change", "verdict", "p (Holm)"),
        [_row(effect, several=several) for effect in _by_size(effects)],
        names=len(heads),
    )


def _by_size(effects: Sequence[EffectReport]) -> list[EffectReport]:
    return sorted(effects, key=lambda effect: -abs(effect.change or 0.0))


def _row(effect: EffectReport, *, several: bool) -> tuple[str, ...]:
    word = "no data" if not effect.blocks else effect.verdict.value
    return (
        effect.level,
        effect.against,
        *((effect.workload,) if several else ()),
        format_change_interval(effect.change, effect.interval),
        f"{word} (by Holm)" if effect.by_holm else word,
        _p(effect.p),
    )


def _p(p: float | None) -> str:
    if p is None:
        return UNKNOWN
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _interactions(screening: ScreeningReport, *, several: bool) -> TextTable | None:
    if not screening.interactions:
        return None
    return _effects("interactions", screening.interactions, several=several)


def _aliases(aliases: Sequence[AliasReport]) -> TextTable | None:
    if not aliases:
        return None
    rows = [(alias.level, _listed(alias.interactions)) for alias in aliases]
    return TextTable("aliases", ("effect", "aliased with the interaction of"), rows, names=2)


def _listed(interactions: Sequence[str]) -> str:
    left = len(interactions) - _MOST_NAMED
    more = [f"{left} more"] if left > 0 else []
    return "; ".join([*interactions[:_MOST_NAMED], *more])


def _omnibus(tests: Sequence[OmnibusReport]) -> TextTable | None:
    """Return the tests of factors with more than two levels."""
    if not tests:
        return None
    heads = ("factor", "workload", "F", "degrees of freedom", "p (unadjusted)")
    rows = [
        (t.factor, t.workload, f"{t.f:.2f}", f"{t.degrees}, {t.error_degrees}", _p(t.p))
        for t in tests
    ]
    title = "omnibus test of all levels of a factor (type II F; not used for verdicts)"
    return TextTable(title, heads, rows, names=2)
