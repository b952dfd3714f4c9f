"""Effects of the factors in a screening."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence

from pydantic import FiniteFloat

from iostudy.analysis.paired import as_fraction
from iostudy.analysis.verdict import Verdict
from iostudy.ledger.rows import TrialRow
from iostudy.report.base import EffectReport, OnWorkload, Value, build_span, finite
from iostudy.report.formatting import (
    UNKNOWN,
    format_change_interval,
    format_count,
    format_signed_change,
    join_words,
)
from iostudy.report.plugin_topics import Topic, TopicValue
from iostudy.report.section import Section, TextTable, make_table
from iostudy.results.comparisons import decision_rule, log_figures
from iostudy.study.combinations import Factor
from iostudy.study.model import Study
from iostudy.units import format_percent
from iostudy_search.screening import designs
from iostudy_search.screening.design import ScreeningDesign, require_screening, varied
from iostudy_search.screening.designs import Term
from iostudy_search.screening.omnibus import compute_f_tests
from iostudy_search.screening.results import (
    ScreeningResult,
    screen_factors,
    screen_interactions,
    term_label,
)


class AliasReport(Value):
    """Interactions that are aliased with a main effect."""

    level: str
    """Level of the main effect."""
    interactions: tuple[str, ...]
    """Interactions that bias its estimate."""


class OmnibusReport(OnWorkload):
    """F test of all levels of a factor together. No verdict uses it."""

    factor: str
    """Name of the factor."""
    f: FiniteFloat
    """The F statistic."""
    degrees: int
    """Degrees of freedom of the factor."""
    error_degrees: int
    """Degrees of freedom of the error."""
    p: FiniteFloat
    """The p value, for this interim analysis alone."""


class PredictedBest(Value):
    """The predicted best configuration.

    Each factor is at its best level, which is better on a workload and worse on none, or its first.
    """

    levels: dict[str, str]
    """Levels that differ from the first, by factor."""
    changes: dict[str, FiniteFloat]
    """Predicted changes against all first levels, by workload, as fractions; effects are added
    on the log scale."""
    was_run: bool
    """Whether the design contains this configuration."""
    confirm: str
    """Section of a study file that compares it with the first levels."""


class ScreeningReport(TopicValue):
    """Effects of the factors, and the limits of the design."""

    answer: str
    """The result in sentences."""
    design: str
    """Name of the design."""
    runs: int
    """Number of configurations in the design."""
    effects: tuple[EffectReport, ...]
    """Main effects of the levels."""
    interactions: tuple[EffectReport, ...]
    """Interactions of two factors; empty if they are aliased."""
    aliases: tuple[AliasReport, ...]
    """Interactions aliased with main effects."""
    omnibus: tuple[OmnibusReport, ...]
    """Tests of factors with more than two levels."""
    predicted: PredictedBest | None
    """Predicted best configuration; null if no level is better on a workload and worse on none."""

    def find_headline(self) -> str:
        """Return the factors that matter."""
        return self.answer

    def list_effects(self) -> tuple[EffectReport, ...]:
        """Return the main effects."""
        return self.effects

    def build_section(self, *, factor: str, risk: float, several: bool) -> Section:
        """Return every effect with Holm's result, the aliases, and the next steps."""
        return _build_section(self, risk, several=several)


_FOUND = (Verdict.BETTER, Verdict.WORSE)


def build_screening(study: Study, rows: Sequence[TrialRow]) -> ScreeningReport | None:
    """Return the result of a screening; None for other studies."""
    if not isinstance(study.design, ScreeningDesign):
        return None
    design, effects = study.design, screen_factors(study, rows)
    together = screen_interactions(study, tuple(log_figures(study, rows)), decision_rule(study))
    return ScreeningReport(
        answer=_answer(study, effects),
        design=design.describe(),
        runs=len(study.configurations()),
        effects=tuple(map(_effect, effects)),
        interactions=tuple(map(_effect, together)),
        aliases=find_aliases(study, design),
        omnibus=tuple(_test_factors(study, design, rows)),
        predicted=_predicted(study, effects),
    )


def find_aliases(study: Study, design: ScreeningDesign) -> tuple[AliasReport, ...]:
    """Return for each effect the pairs of factors whose interaction is aliased with it."""
    factors = varied(study.factors)
    levels = [len(factor.levels) for factor in factors]
    aliases: dict[Term, dict[str, None]] = {}
    for alias in designs.find_aliases(design.runs(study.factors), levels):
        pair = " with ".join(factors[index].name for index, _ in alias.interaction.parts)
        aliases.setdefault(alias.effect, {})[pair] = None
    return tuple(
        AliasReport(level=term_label(effect, study), interactions=tuple(pairs))
        for effect, pairs in aliases.items()
    )


def _test_factors(
    study: Study, design: ScreeningDesign, rows: Sequence[TrialRow]
) -> Iterator[OmnibusReport]:
    """The factors with more than two levels: of two, the interval says it all."""
    factors = varied(study.factors)
    if all(len(factor.levels) == 2 for factor in factors):
        return
    hard = [index for index, factor in enumerate(factors) if factor.hard_to_change]
    runs = design.runs(study.factors)
    for workload, figures in zip(study.workloads, log_figures(study, rows), strict=True):
        for test in compute_f_tests(figures, runs, hard):
            if len(factors[test.factor].levels) > 2:
                yield OmnibusReport.copy_from(
                    test, workload=workload.label, factor=factors[test.factor].name
                )


def _effect(result: ScreeningResult) -> EffectReport:
    comparison = result.effect.comparison
    return EffectReport(
        workload=result.workload.label,
        level=result.label,
        against=result.against,
        change=finite(comparison.change),
        interval=build_span(comparison.change_interval),
        verdict=comparison.verdict,
        by_holm=result.effect.by_holm,
        p=finite(result.effect.p),
        blocks=comparison.blocks,
    )


def _answer(study: Study, effects: Sequence[ScreeningResult]) -> str:
    """``Of 5 factors, 1 matters: mount.atime. ...``: on any workload, by any level."""
    factors = varied(study.factors)
    verdicts: dict[int, set[Verdict]] = {}
    for effect in effects:
        verdicts.setdefault(effect.term.parts[0][0], set()).add(effect.effect.comparison.verdict)
    matter = [factors[index].name for index, kinds in verdicts.items() if kinds & set(_FOUND)]
    equal = [factors[index] for index, kinds in verdicts.items() if kinds == {Verdict.EQUIVALENT}]
    left = len(factors) - len(matter) - len(equal)
    clauses = ["none is shown to matter"]
    if matter:
        clauses = [f"{len(matter)} {'matters' if len(matter) == 1 else 'matter'}: "]
        clauses[0] += join_words(matter)
    if equal:
        clauses.append(_describe_equivalence(equal, format_percent(study.decide.margin)))
    if left:
        clauses.append(f"{left} {'is' if left == 1 else 'are'} inconclusive")
    return f"Of {format_count(len(factors), 'factor')}, {'; '.join(clauses)}."


def _describe_equivalence(factors: Sequence[Factor], margin: str) -> str:
    """Of several levels each is equivalent to the first one, and two others may differ more."""
    number = len(factors)
    if all(len(factor.levels) == 2 for factor in factors):
        return f"{number} {'has' if number == 1 else 'have'} no effect beyond {margin}"
    differ = "differs from its first level" if number == 1 else "differ from their first levels"
    return f"{number} {differ} by no more than {margin}"


def _predicted(study: Study, effects: Sequence[ScreeningResult]) -> PredictedBest | None:
    chosen = dict(_best_levels(study, effects))
    if not chosen:
        return None
    changes = {}
    for workload in study.workloads:
        sign = 1 if workload.figure.higher_is_better else -1
        total = math.fsum(
            effect.effect.comparison.estimate
            for effect in effects
            if effect.workload == workload and effect.term.parts[0] in chosen.items()
        )
        changes[workload.label] = as_fraction(sign * total)
    factors = varied(study.factors)
    levels = {factors[index].name: factors[index].levels[at] for index, at in chosen.items()}
    labels = {name: level.label for name, level in levels.items()}
    wanted = {f.name: levels.get(f.name, f.levels[0]) for f in study.factors}
    runs = require_screening(study).combinations(study.factors)
    # One line of JSON, which YAML reads and every format keeps.
    best = json.dumps({"first levels": {}, "predicted best": labels}, ensure_ascii=False)
    return PredictedBest(
        levels=labels,
        changes=changes,
        was_run=any(dict(run) == wanted for run in runs),
        confirm=f"configurations: {best}",
    )


def _best_levels(study: Study, effects: Sequence[ScreeningResult]) -> Iterator[tuple[int, int]]:
    """(factor, level): better on some workload and worse on none; of several the best on average.

    Workloads count with the study's weights.
    """
    for factor in range(len(varied(study.factors))):
        totals: dict[int, float] = {}
        for level in {e.term.parts[0][1] for e in effects if e.term.parts[0][0] == factor}:
            matching = [e for e in effects if e.term.parts == ((factor, level),)]
            words = {e.effect.comparison.verdict for e in matching}
            if Verdict.BETTER in words and Verdict.WORSE not in words:
                totals[level] = math.fsum(
                    weight * e.effect.comparison.estimate
                    for e, weight in zip(matching, study.weights, strict=True)
                )
        if totals:
            yield factor, max(totals, key=lambda level: totals[level])


_MOST_NAMED = 6
"""More interactions than these are counted."""


def _build_section(report: ScreeningReport, risk: float, *, several: bool) -> Section:
    aliases = make_table(
        (
            {
                "effect": alias.level,
                "aliased with the interaction of": "; ".join(
                    [
                        *alias.interactions[:_MOST_NAMED],
                        *(
                            [f"{left} more"]
                            if (left := len(alias.interactions) - _MOST_NAMED) > 0
                            else []
                        ),
                    ]
                ),
            }
            for alias in report.aliases
        ),
        "aliases",
        names=2,
    )
    omnibus = make_table(
        (
            {
                "factor": test.factor,
                "workload": test.workload,
                "F": f"{test.f:.2f}",
                "degrees of freedom": f"{test.degrees}, {test.error_degrees}",
                "p (unadjusted)": _p(test.p),
            }
            for test in report.omnibus
        ),
        "omnibus test of all levels of a factor (type II F; not used for verdicts)",
        names=2,
    )
    interactions = _effects("interactions", report.interactions, several=several)
    return Section(
        name="screening",
        title="Factor effects",
        notes=tuple(_known(report, risk)),
        tables=(_effects("", report.effects, several=several),),
        folded=tuple(table for table in (interactions, aliases, omnibus) if table.rows),
    )


def _known(screening: ScreeningReport, total_risk: float) -> Iterator[str]:
    risk = format_percent(total_risk)
    yield (
        f"A {screening.design} design of {screening.runs} runs, each once per block. An effect "
        "compares a level with the first level of its factor, averaged over the levels of all "
        "other factors. Its error is estimated from the blocks, not from the model. All intervals "
        f"hold together, with an error rate of {risk}. p is adjusted for all effects (Holm) and "
        f"for interim analyses: an effect with p up to {risk} is significant. Holm's step can find "
        "an effect whose interval contains zero."
    )
    if screening.interactions:
        yield (
            "No effect is aliased with a two-factor interaction, and the interactions are "
            "estimated: the joint effect of two levels beyond their separate effects, with the "
            "same risk once more."
        )
    elif not screening.aliases:
        yield (
            "No effect is aliased with a two-factor interaction. The design cannot estimate the "
            "interactions."
        )
    else:
        yield (
            f"{len(screening.aliases)} effects are aliased with two-factor interactions (see the "
            "table of aliases): large interactions look like effects, or hide them."
        )
    yield from _prediction(screening)


def _prediction(screening: ScreeningReport) -> Iterator[str]:
    best = screening.predicted
    if best is None and any(effect.verdict is Verdict.BETTER for effect in screening.effects):
        yield (
            "Each level that is better than the first of its factor on a workload is worse on "
            "another, so there is no predicted best."
        )
        return
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
    """Return the effects, the largest first."""
    return make_table(
        (
            {
                "level": effect.level,
                "against": effect.against,
                **({"workload": effect.workload} if several else {}),
                "change": format_change_interval(effect.change, effect.interval),
                "verdict": f"{effect.verdict if effect.blocks else 'no data'}"
                f"{' (by Holm)' if effect.by_holm else ''}",
                "p (Holm)": _p(effect.p),
            }
            for effect in sorted(effects, key=lambda effect: -abs(effect.change or 0.0))
        ),
        title,
        names=3 if several else 2,
    )


def _p(p: float | None) -> str:
    if p is None:
        return UNKNOWN
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


TOPIC = Topic(
    ScreeningReport,
    "Effects of a screening; null for a study that compares configurations.",
    build_screening,
)
