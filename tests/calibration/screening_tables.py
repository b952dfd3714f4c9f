"""Tables of docs/method/calibration.md on screenings of seven factors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from iostudy.analysis.rule import Rule
from iostudy.analysis.spending import AnalysisMethod
from iostudy.analysis.verdict import Verdict
from tests.calibration import screened, simulation
from tests.calibration.rows import Row, percent
from tests.calibration.screened import FACTORS, FOLDED, RULE, carry_out, estimates
from tests.calibration.simulation import Array, NoiseShape

STUDIES = 5000
STRONG = 0.10
"""The effect of factors that do matter, on a log scale."""
OTHERS, ALL = slice(3, None), slice(None)


def screening_rates() -> list[Row]:
    """False effects and missed truths among seven factors, with and without whole plots."""
    heads = ("noise", "of a whole plot", "none matters: any found", "three matter: any other found")
    rows: list[Row] = [(*heads, "any interval misses")]
    for shape in NoiseShape:
        for times in (None, 3):
            figures = screened.log_figures(
                shape, FOLDED, STUDIES, RULE.max_blocks, whole_plot=times
            )
            achieved = (
                carry_out(estimates(figures, FOLDED), RULE).any_difference(ALL),
                carry_out(three_matter(figures), RULE).any_difference(OTHERS),
                carry_out(estimates(figures, FOLDED), RULE).any_missed(np.zeros(FACTORS)),
            )
            plots = "none" if times is None else f"{times} x that of a trial"
            rows.append((str(shape), plots, *map(percent, achieved)))
    return rows


def three_matter(figures: Array, effect: float = STRONG) -> Array:
    """Series of effects: three factors have that one, four have none."""
    true = np.where(np.arange(FACTORS) < 3, effect, 0.0)
    return estimates(figures, FOLDED) + true


def screening_power() -> list[Row]:
    """One factor of seven matters: by a design, and with one factor changed at a time."""
    heads = ("true effect", "found: design", "trials on average", "of the others any found")
    rows: list[Row] = [(*heads, "found: one at a time, as many trials")]
    for effect in (0.02, 0.03, 0.05):
        figures = screened.log_figures(NoiseShape.NORMAL, FOLDED, STUDIES, RULE.max_blocks)
        rule = replace(RULE, margin=0.02)
        series = estimates(figures, FOLDED)
        series[:, :, 0] += math.log1p(effect)
        outcome = carry_out(series, rule)
        trials = float(outcome.blocks.mean()) * len(FOLDED)
        rows.append(
            (
                f"{100 * effect:.0f} %",
                percent(outcome.found(0)),
                f"{trials:.0f}",
                percent(outcome.any_difference(slice(1, None))),
                percent(_one_at_a_time(effect, rule, trials)),
            )
        )
    return rows


def _one_at_a_time(effect: float, rule: Rule, trials: float) -> float:
    """How often eight configurations, in blocks that take as many trials, find the one effect.

    Such a study is no screening: it spends its risk as other comparisons do.
    """
    blocks = max(rule.min_blocks, round(trials / (FACTORS + 1)))
    spending = replace(rule, method=AnalysisMethod.ERROR_SPENDING)
    longer = replace(spending, max_blocks=max(blocks, rule.max_blocks))
    ratios = simulation.pairs(NoiseShape.NORMAL, longer, STUDIES, difference=math.log1p(effect))
    outcome = simulation.carry_out(ratios[:, :blocks], replace(longer, max_blocks=blocks))
    return outcome.share(Verdict.BETTER)


TABLES = (screening_rates, screening_power)
