"""Which factors matter, as a section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iostudy.report import wording
from iostudy.report.columns import TextTable
from iostudy.report.section import Section
from iostudy.report.values.report import Report
from iostudy.report.values.screening import AliasTold, EffectTold, OmnibusTold, ScreeningTold
from iostudy.units import format_percent

_MOST_NAMED = 6
"""More interactions than these are counted."""


def section(report: Report) -> Section | None:
    """Every effect with Holm's result, what the design cannot tell, and what to try next."""
    told = report.screening
    if told is None:
        return None
    several = len(report.workloads) > 1
    shut = (_interactions(told, several=several), _aliases(told.aliases), _omnibus(told.omnibus))
    return Section(
        name="screening",
        title="Which factors matter",
        known=tuple(_known(told, report)),
        tables=(_effects("", told.effects, several=several),),
        shut=tuple(table for table in shut if table is not None),
    )


def _known(told: ScreeningTold, report: Report) -> Iterator[str]:
    risk = format_percent(report.method.risk)
    yield (
        f"A {told.design} design of {told.runs} runs, each once in every block. An effect is what "
        "a level does against its factor's first, averaged over the levels of all others; its "
        "error comes from its spread over blocks, never from the model. All intervals hold the "
        f"truth at once but for a risk of {risk}. p is adjusted for all effects by Holm, and for a "
        f"look after every block: {risk} or less is found. Where a difference is found though the "
        "interval holds zero, Holm's step found it."
    )
    yield _alias_note(told)
    yield from _prediction(told)


def _alias_note(told: ScreeningTold) -> str:
    if told.interactions:
        return (
            "No effect is mixed with an interaction of two factors, and the interactions are told: "
            "what two levels do together beyond what each does, with the same risk once more."
        )
    if not told.aliases:
        return (
            "No effect is mixed with an interaction of two factors; which of these there are, the "
            "design does not tell."
        )
    return (
        f"{len(told.aliases)} effects are mixed with interactions of two other factors (see the "
        "table of aliases): if those are not small, they pass for effects, or hide them."
    )


def _prediction(told: ScreeningTold) -> Iterator[str]:
    best = told.predicted
    if best is None:
        yield "No level is shown to be better than the first of its factor: nothing to confirm."
        return
    levels = ", ".join(f"{name}={level}" for name, level in best.levels.items())
    changes = wording.joined(
        [f"{wording.signed_percent(change)} on {name}" for name, change in best.changes.items()]
    )
    run = "was one of the runs, but with no verdict of its own" if best.was_run else "was never run"
    yield (
        f"Predicted best: {levels}, all others at their first level; {changes} if effects add up. "
        f"It {run}, and a prediction from what was found flatters itself. To measure it, put this "
        "in the place of `design` in a copy of the study file, and run that:"
    )
    yield best.confirm


def _effects(title: str, effects: Sequence[EffectTold], *, several: bool) -> TextTable:
    heads = ("level", "against", *(("workload",) if several else ()))
    return TextTable(
        title,
        (*heads, "change, %", "verdict", "p (Holm)"),
        [_row(effect, several=several) for effect in _by_size(effects)],
        names=len(heads),
    )


def _by_size(effects: Sequence[EffectTold]) -> list[EffectTold]:
    return sorted(effects, key=lambda effect: -abs(effect.change or 0.0))


def _row(effect: EffectTold, *, several: bool) -> tuple[str, ...]:
    word = "no data" if not effect.blocks else effect.verdict.value
    return (
        effect.level,
        effect.against,
        *((effect.workload,) if several else ()),
        wording.change_within(effect.change, effect.interval),
        f"{word} (by Holm)" if effect.by_holm else word,
        _p(effect.p),
    )


def _p(p: float | None) -> str:
    if p is None:
        return wording.UNKNOWN
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _interactions(told: ScreeningTold, *, several: bool) -> TextTable | None:
    if not told.interactions:
        return None
    return _effects("interactions: together beyond each alone", told.interactions, several=several)


def _aliases(aliases: Sequence[AliasTold]) -> TextTable | None:
    if not aliases:
        return None
    rows = [(alias.level, _listed(alias.interactions)) for alias in aliases]
    return TextTable("aliases", ("effect", "mixed with the interaction of"), rows, names=2)


def _listed(interactions: Sequence[str]) -> str:
    left = len(interactions) - _MOST_NAMED
    more = [f"{left} more"] if left > 0 else []
    return "; ".join([*interactions[:_MOST_NAMED], *more])


def _omnibus(tests: Sequence[OmnibusTold]) -> TextTable | None:
    """For factors with more than two levels."""
    if not tests:
        return None
    heads = ("factor", "workload", "F", "degrees of freedom", "p of this look")
    rows = [
        (t.factor, t.workload, f"{t.f:.2f}", f"{t.degrees}, {t.error_degrees}", _p(t.p))
        for t in tests
    ]
    title = "all levels of a factor together (type II F; no verdict rests on it)"
    return TextTable(title, heads, rows, names=2)
