"""Tables of docs/method/calibration.md on one comparison: error rates and power."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy

from iostudy.analysis.boundaries import build_boundaries
from iostudy.analysis.noise import minimum_detectable_effect
from iostudy.analysis.rule import Rule
from iostudy.analysis.sequential import plan_looks, repeated_alpha
from iostudy.analysis.spending import AnalysisMethod, spent
from iostudy.analysis.verdict import Verdict
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import (
    NOISE,
    SEED,
    NoiseShape,
    carry_out,
    families,
    noise,
    pairs,
    unequal_variances,
)

STUDIES = 2_000
OPEN_ENDED = Rule(margin=0.005, risk=0.05, min_blocks=5, max_blocks=30)
REACHABLE = Rule(margin=0.05, risk=0.05, min_blocks=5, max_blocks=30)
FAMILY = Rule(margin=0.005, risk=0.05, min_blocks=5, max_blocks=30, comparisons=6)


def usual_ways() -> list[Row]:
    """How often the ways this program avoids name a winner between equal configurations."""
    draw = np.random.default_rng([SEED, 4])
    rows = [("way", "false winner")]
    for shape in (NoiseShape.NORMAL, NoiseShape.AR1, NoiseShape.DRIFT):
        series = noise(shape, draw, STUDIES, 60)
        found = scipy.stats.ttest_ind(series[:, :30], series[:, 30:], axis=1).pvalue < 0.05
        rows.append((f"30 runs of A, then 30 of B; {shape}", percent(float(found.mean()))))
    differences = noise(NoiseShape.NORMAL, draw, STUDIES, 20)
    looks = [
        scipy.stats.ttest_1samp(differences[:, :n], 0, axis=1).pvalue < 0.05 for n in range(5, 21)
    ]
    found = np.any(looks, axis=0)
    rows.append(
        ("5 to 20 pairs, stopping at the first p < 0.05; normal", percent(float(found.mean())))
    )
    return rows


def levels() -> list[Row]:
    """a* for common studies: alone, and as one of 6 and of 24 comparisons."""
    rows = [("most blocks", "1 comparison", "6 comparisons", "24 comparisons")]
    for most in (5, 10, 15, 20, 30, 40, 60):
        shared = (repeated_alpha(5, most, 0.05 / m) for m in (1, 6, 24))
        rows.append(
            (str(most), *(f"{level:.2g}" if level < 1e-3 else f"{level:.4f}" for level in shared))
        )
    return rows


def spending() -> list[Row]:
    """Levels of error spending at some of the analyses of 30 blocks."""
    rows: list[Row] = [
        (
            "blocks",
            "risk spent",
            "difference, 1 comparison",
            "equivalence, 1 comparison",
            "difference, 6 comparisons",
            "equivalence, 6 comparisons",
        )
    ]
    looks = plan_looks(5, 30, 0)
    alone, shared = (
        build_boundaries(AnalysisMethod.ERROR_SPENDING, 5, 30, 0.05 / m) for m in (1, 6)
    )
    for blocks in (5, 8, 12, 16, 20, 24, 28, 30):
        at = looks.index(blocks)
        levels = (
            own[at] for each in (alone, shared) for own in (each.difference, each.equivalence)
        )
        rows.append((str(blocks), percent(spent(blocks / 30)), *(f"{own:.2g}" for own in levels)))
    return rows


def rates() -> list[Row]:
    """Achieved rates under every shape of noise."""
    rows = [("noise", "false winner", "false equivalent", "interval misses", "any of 6 wrong")]
    for shape in NoiseShape:
        at_margin = pairs(shape, REACHABLE, STUDIES, difference=REACHABLE.delta)
        family = families(shape, FAMILY, STUDIES // 4, configurations=4, workloads=2)
        beyond = carry_out(pairs(shape, REACHABLE, STUDIES, difference=0.02), REACHABLE)
        achieved = (
            carry_out(pairs(shape, OPEN_ENDED, STUDIES), OPEN_ENDED).wrong,
            carry_out(at_margin, REACHABLE).share(Verdict.EQUIVALENT),
            1 - beyond.covering(0.02),
            float(family.mean()),
        )
        rows.append((str(shape), *map(percent, achieved)))
    return rows


def power() -> list[Row]:
    """How often the reachable difference is found, and after how many blocks on average."""
    rows = [("most blocks", "reachable difference", "found", "blocks on average")]
    for most in (10, 30, 60):
        rule = Rule(margin=1e-9, risk=0.05, min_blocks=5, max_blocks=most)
        margin = minimum_detectable_effect(NOISE * math.sqrt(2), rule)
        ratios = pairs(NoiseShape.NORMAL, rule, STUDIES, difference=math.log1p(margin))
        outcomes = carry_out(ratios, rule)
        found = percent(outcomes.share(Verdict.BETTER))
        rows.append((str(most), percent(margin), found, f"{outcomes.blocks.mean():.1f}"))
    return rows


def unequal_variance_rates() -> list[Row]:
    """False winners where one configuration is noisy, the other quiet, and their means equal."""
    rows = [("noise of one side", "first analysis at 5 blocks", "first analysis at 10 blocks")]
    rules = [replace(OPEN_ENDED, min_blocks=fewest) for fewest in (5, 10)]
    for shape in (NoiseShape.NORMAL, NoiseShape.SPIKES, NoiseShape.LOG_NORMAL):
        wrong = [carry_out(unequal_variances(shape, rule, STUDIES), rule).wrong for rule in rules]
        rows.append((str(shape), *map(percent, wrong)))
    return rows


TABLES = (usual_ways, spending, levels, rates, power, unequal_variance_rates)
