"""Effects of a screening, computed from figures by block and run (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.rule import Rule
from iostudy.ledger.rows import MeasuredRow
from iostudy.results.comparisons import FIRST_LEVELS, ComparisonResult, decision_rule, log_figures
from iostudy.results.power import PowerBasis
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.names import short_names
from iostudy.study.plan import whole_plots
from iostudy_search.screening import designs
from iostudy_search.screening.design import ScreeningDesign, require_screening, varied
from iostudy_search.screening.designs import Contrasts, Term
from iostudy_search.screening.effects import Effect, EffectSeries, screen_effects

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ScreeningResult:
    """One effect on one workload.

    ``label`` is that of the level (``atime=noatime``), or of both levels of an interaction;
    ``against`` is that of the first level. ``mean`` and ``reference`` are the figures with only
    this level changed and with all first levels, in the additive model; NaN without blocks.
    """

    workload: WorkloadRequest
    term: Term
    label: str
    against: str
    mean: float
    reference: float
    effect: Effect


def compare_levels(study: Study, rows: Iterable[MeasuredRow]) -> tuple[ComparisonResult, ...]:
    """Compare every level with the first levels, workload by workload."""
    return tuple(map(_from_effect, screen_factors(study, rows)))


def _from_effect(result: ScreeningResult) -> ComparisonResult:
    return ComparisonResult(
        workload=result.workload.label,
        configuration=result.label,
        baseline=FIRST_LEVELS,
        figure=result.workload.figure,
        mean=result.mean,
        baseline_mean=result.reference,
        comparison=result.effect.comparison,
    )


def screen_factors(study: Study, rows: Iterable[MeasuredRow]) -> tuple[ScreeningResult, ...]:
    """Return every effect of a screening, workload by workload."""
    return screen_main_effects(study, tuple(log_figures(study, rows)), decision_rule(study))


def screen_main_effects(
    study: Study, figures: Sequence[Array], rule: Rule
) -> tuple[ScreeningResult, ...]:
    """Estimate the effect of every level but the first of each factor, workload by workload.

    ``figures`` are s ln y of each workload, blocks x runs in the order of the configurations.
    """
    design, levels = _design(study)
    contrasts = designs.main_effects(design.runs(study.factors), levels)
    return tuple(_estimate_effects(study, figures, contrasts, rule))


def screen_interactions(
    study: Study, figures: Sequence[Array], rule: Rule
) -> tuple[ScreeningResult, ...]:
    """Estimate the two-factor interactions, if the design separates all of them; else none.

    They share a risk of their own, as large as that of the main effects.
    """
    design, levels = _design(study)
    contrasts = designs.interactions(design.runs(study.factors), levels)
    shared = replace(rule, comparisons=max(1, len(contrasts.terms) * len(study.workloads)))
    return tuple(_estimate_effects(study, figures, contrasts, shared))


def find_power_basis(study: Study) -> PowerBasis:
    """Return the study: each of its effects uses all runs."""
    return PowerBasis(study, effect_noise_ratio(study))


def effect_noise_ratio(study: Study) -> float:
    """Return the largest ratio of the noise of an effect to that of a pair.

    The variance of an effect with weights w is sum(w^2) times that of a run, plus sum(W^2) times
    the whole-plot variance, with W the sum of w on each file system. The difference of two runs on
    two file systems has twice both.
    """
    design, levels = _design(study)
    weights = designs.main_effects(design.runs(study.factors), levels).weights
    configurations = study.configurations()
    indexes = {configuration.label: index for index, configuration in enumerate(configurations)}
    plots = [
        [indexes[configuration.label] for configuration in plot]
        for plot in whole_plots(configurations)
    ]
    plot_weights = np.stack([weights[:, plot].sum(axis=1) for plot in plots], axis=1)
    return math.sqrt(max((matrix**2).sum(axis=1).max() for matrix in (weights, plot_weights)) / 2)


def term_label(term: Term, study: Study) -> str:
    """Format ``atime=noatime``, or ``atime=noatime with file-max=64000`` for an interaction."""
    factors = varied(study.factors)
    short = short_names([factor.name for factor in factors])
    parts = ((factors[index], level) for index, level in term.parts)
    return " with ".join(f"{short[f.name]}={f.levels[level].label}" for f, level in parts)


def _design(study: Study) -> tuple[ScreeningDesign, list[int]]:
    design = require_screening(study)
    return design, [len(factor.levels) for factor in varied(study.factors)]


def _estimate_effects(
    study: Study, figures: Sequence[Array], contrasts: Contrasts, rule: Rule
) -> Iterator[ScreeningResult]:
    inputs = [
        (workload, values, term, EffectSeries(values @ weights, workload.figure.higher_is_better))
        for workload, values in zip(study.workloads, figures, strict=True)
        for term, weights in zip(contrasts.terms, contrasts.weights, strict=True)
    ]
    effects = screen_effects([series for *_, series in inputs], rule)
    for (workload, values, term, series), effect in zip(inputs, effects, strict=True):
        sign = 1 if series.higher_is_better else -1
        reference = float(np.mean(values @ contrasts.reference)) if len(values) else math.nan
        yield ScreeningResult(
            workload=workload,
            term=term,
            label=term_label(term, study),
            against=term_label(Term(tuple((factor, 0) for factor, _ in term.parts)), study),
            mean=math.exp(sign * (reference + effect.comparison.estimate)),
            reference=math.exp(sign * reference),
            effect=effect,
        )
