"""Where each effect of a screening stands: figures by block and run in, effects out (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis import design as designs
from iostudy.analysis.design import Contrasts, Term
from iostudy.analysis.screening import Effect, Series, screen
from iostudy.analysis.verdict import Rule
from iostudy.study.design import Design, varied
from iostudy.study.labels import short_names
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.plan import whole_plots

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ScreeningResult:
    """One effect on one workload.

    ``label`` is that of the level (``atime=noatime``) or of both of an interaction, ``against``
    that of the first one. ``mean`` and ``reference`` are the figure with this level alone, and with
    all first levels, as the effects add up; NaN without blocks.
    """

    workload: WorkloadRequest
    term: Term
    label: str
    against: str
    mean: float
    reference: float
    effect: Effect


def main_effects(study: Study, figures: Sequence[Array], rule: Rule) -> tuple[ScreeningResult, ...]:
    """The effect of every level but the first of each factor, workload by workload.

    ``figures`` are s ln y of each workload, blocks x runs in the order of the configurations.
    """
    design, levels = _design(study)
    contrasts = designs.main_effects(design.runs(study.factors), levels)
    return tuple(_screened(study, figures, contrasts, rule))


def interactions(study: Study, figures: Sequence[Array], rule: Rule) -> tuple[ScreeningResult, ...]:
    """Every interaction of two factors, where the design tells all of them apart; else none.

    They share the risk among themselves: it is theirs once more, beside that of main effects.
    """
    design, levels = _design(study)
    contrasts = designs.interactions(design.runs(study.factors), levels)
    shared = replace(rule, comparisons=max(1, len(contrasts.terms) * len(study.workloads)))
    return tuple(_screened(study, figures, contrasts, shared))


def share_of_pair(study: Study) -> float:
    """What the noise of an effect is of that of two runs, at most; 1 without a design.

    With the weights w of its runs, the variance of an effect is sum(w^2) times that of a run, and
    of what all runs on one file system share, sum(W^2) times, with W the sum of w on each. The
    difference of two runs on two file systems has twice the one and twice the other.
    """
    if study.design is None:
        return 1.0
    design, levels = _design(study)
    weights = designs.main_effects(design.runs(study.factors), levels).weights
    configurations = study.configurations()
    places = {each.label: place for place, each in enumerate(configurations)}
    plots = [[places[each.label] for each in plot] for plot in whole_plots(configurations)]
    of_plots = np.stack([weights[:, own].sum(axis=1) for own in plots], axis=1)
    return math.sqrt(max((each**2).sum(axis=1).max() for each in (weights, of_plots)) / 2)


def label_of(term: Term, study: Study) -> str:
    """``atime=noatime``, or ``atime=noatime with file-max=64000`` of an interaction."""
    factors = varied(study.factors)
    short = short_names([factor.name for factor in factors])
    parts = ((factors[index], level) for index, level in term.parts)
    return " with ".join(f"{short[f.name]}={f.levels[level].label}" for f, level in parts)


def _design(study: Study) -> tuple[Design, list[int]]:
    assert study.design is not None
    return study.design, [len(factor.levels) for factor in varied(study.factors)]


def _screened(
    study: Study, figures: Sequence[Array], contrasts: Contrasts, rule: Rule
) -> Iterator[ScreeningResult]:
    found = [
        (workload, own, term, Series(own @ weights, workload.figure.higher_is_better))
        for workload, own in zip(study.workloads, figures, strict=True)
        for term, weights in zip(contrasts.terms, contrasts.weights, strict=True)
    ]
    effects = screen([series for *_, series in found], rule)
    for (workload, own, term, series), effect in zip(found, effects, strict=True):
        sign = 1 if series.higher_is_better else -1
        reference = float(np.mean(own @ contrasts.reference)) if len(own) else math.nan
        yield ScreeningResult(
            workload=workload,
            term=term,
            label=label_of(term, study),
            against=label_of(Term(tuple((factor, 0) for factor, _ in term.parts)), study),
            mean=math.exp(sign * (reference + effect.comparison.estimate)),
            reference=math.exp(sign * reference),
            effect=effect,
        )
