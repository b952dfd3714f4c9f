"""Effects of the factors in a screening (pure)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence

from iostudy.analysis import design as designs
from iostudy.analysis.design import Term
from iostudy.analysis.omnibus import compute_f_tests
from iostudy.analysis.paired import as_fraction
from iostudy.analysis.verdict import Verdict
from iostudy.ledger.rows import TrialRow
from iostudy.report.finite import build_span, finite
from iostudy.report.formatting import format_count, join_words
from iostudy.report.topics.screening.values import (
    AliasReport,
    EffectReport,
    OmnibusReport,
    PredictedBest,
    ScreeningReport,
)
from iostudy.results.comparisons import decision_rule, log_figures, screen_factors
from iostudy.results.screening import ScreeningResult, screen_interactions, term_label
from iostudy.study.combinations import Level
from iostudy.study.design import Design, varied
from iostudy.study.model import Study
from iostudy.units import format_percent

_FOUND = (Verdict.BETTER, Verdict.WORSE)


def build_screening(study: Study, rows: Sequence[TrialRow]) -> ScreeningReport | None:
    """Return the result of a screening; None for a study that compares configurations."""
    design = study.design
    if design is None:
        return None
    effects = screen_factors(study, rows)
    together = screen_interactions(study, tuple(log_figures(study, rows)), decision_rule(study))
    return ScreeningReport(
        answer=_answer(study, effects),
        design=design.describe(),
        runs=len(study.configurations()),
        effects=tuple(map(_effect, effects)),
        interactions=tuple(map(_effect, together)),
        aliases=find_aliases(study, design),
        omnibus=tuple(_omnibus(study, design, rows)),
        predicted=_predicted(study, effects),
    )


def find_aliases(study: Study, design: Design) -> tuple[AliasReport, ...]:
    """Return for each effect the pairs of factors whose interaction is aliased with it."""
    factors = varied(study.factors)
    levels = [len(factor.levels) for factor in factors]
    found: dict[Term, dict[str, None]] = {}
    for alias in designs.find_aliases(design.runs(study.factors), levels):
        pair = " with ".join(factors[index].name for index, _ in alias.interaction.parts)
        found.setdefault(alias.effect, {})[pair] = None
    return tuple(
        AliasReport(level=term_label(effect, study), interactions=tuple(pairs))
        for effect, pairs in found.items()
    )


def _omnibus(study: Study, design: Design, rows: Sequence[TrialRow]) -> Iterator[OmnibusReport]:
    """The factors with more than two levels: of two, the interval says it all."""
    factors = varied(study.factors)
    if all(len(factor.levels) == 2 for factor in factors):
        return
    hard = [index for index, factor in enumerate(factors) if factor.hard_to_change]
    runs = design.runs(study.factors)
    for workload, figures in zip(study.workloads, log_figures(study, rows), strict=True):
        for test in compute_f_tests(figures, runs, hard):
            if len(factors[test.factor].levels) > 2:
                yield OmnibusReport(
                    workload=workload.label,
                    factor=factors[test.factor].name,
                    f=test.f,
                    degrees=test.degrees,
                    error_degrees=test.error_degrees,
                    p=test.p,
                )


def _effect(found: ScreeningResult) -> EffectReport:
    comparison = found.effect.comparison
    return EffectReport(
        workload=found.workload.label,
        level=found.label,
        against=found.against,
        change=finite(comparison.change),
        interval=build_span(comparison.change_interval),
        verdict=comparison.verdict,
        by_holm=found.effect.by_holm,
        p=finite(found.effect.p),
        blocks=comparison.blocks,
    )


def _answer(study: Study, effects: Sequence[ScreeningResult]) -> str:
    """``Of 5 factors, 1 matters: mount.atime. ...``: on any workload, by any level."""
    factors = varied(study.factors)
    words: dict[int, set[Verdict]] = {}
    for each in effects:
        words.setdefault(each.term.parts[0][0], set()).add(each.effect.comparison.verdict)
    matter = [factors[index].name for index, own in words.items() if own & set(_FOUND)]
    equal = [index for index, own in words.items() if own == {Verdict.EQUIVALENT}]
    left = len(factors) - len(matter) - len(equal)
    counted = f"Of {format_count(len(factors), 'factor')}, "
    if matter:
        said = f"{_count(len(matter), 'matters', 'matter')}: {join_words(matter)}"
    else:
        said = "none is shown to matter"
    margin = format_percent(study.decide.margin)
    rest = [f"{_count(len(equal), 'has', 'have')} no effect beyond {margin}"] if equal else []
    rest += [f"{_count(left, 'is', 'are')} inconclusive"] if left else []
    return counted + "; ".join([said, *rest]) + "."


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _predicted(study: Study, effects: Sequence[ScreeningResult]) -> PredictedBest | None:
    chosen = dict(_best_levels(study, effects))
    if not chosen:
        return None
    changes = {}
    for workload in study.workloads:
        sign = 1 if workload.figure.higher_is_better else -1
        own = [e for e in effects if e.workload == workload and _is_chosen(e, chosen)]
        total = math.fsum(e.effect.comparison.estimate for e in own)
        changes[workload.label] = as_fraction(sign * total)
    factors = varied(study.factors)
    levels = {factors[index].name: factors[index].levels[at] for index, at in chosen.items()}
    return PredictedBest(
        levels={name: level.label for name, level in levels.items()},
        changes=changes,
        was_run=_was_run(study, levels),
        confirm=_confirming(levels),
    )


def _best_levels(study: Study, effects: Sequence[ScreeningResult]) -> Iterator[tuple[int, int]]:
    """(factor, level): better on some workload and worse on none; of several the best on average.

    Workloads count with the study's weights.
    """
    for factor in range(len(varied(study.factors))):
        totals: dict[int, float] = {}
        for level in {e.term.parts[0][1] for e in effects if e.term.parts[0][0] == factor}:
            own = [e for e in effects if e.term.parts == ((factor, level),)]
            words = {e.effect.comparison.verdict for e in own}
            if Verdict.BETTER in words and Verdict.WORSE not in words:
                totals[level] = math.fsum(
                    weight * e.effect.comparison.estimate
                    for e, weight in zip(own, study.weights, strict=True)
                )
        if totals:
            yield factor, max(totals, key=lambda level: totals[level])


def _is_chosen(effect: ScreeningResult, chosen: Mapping[int, int]) -> bool:
    ((factor, level),) = effect.term.parts
    return chosen.get(factor) == level


def _was_run(study: Study, levels: Mapping[str, Level]) -> bool:
    assert study.design is not None
    wanted = {f.name: levels.get(f.name, f.levels[0]) for f in study.factors}
    return any(dict(run) == wanted for run in study.design.combinations(study.factors))


def _confirming(levels: Mapping[str, Level]) -> str:
    """Return the levels in one line of JSON, which YAML reads and every format keeps."""
    best = ", ".join(
        f"{json.dumps(name)}: {json.dumps(level.label, ensure_ascii=False)}"
        for name, level in levels.items()
    )
    return f'configurations: {{"first levels": {{}}, "predicted best": {{{best}}}}}'
