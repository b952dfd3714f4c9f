"""Two simulated studies that each stopped at their own verdict, compared with each other.

Each has a baseline and one other configuration, and both are compared across the studies, which
differ in nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.series import FamilyOfTests, flag_figures
from iostudy.analysis.unpaired import combine_rules, compare
from iostudy.analysis.verdict import Rule, Verdict
from tests.calibration.simulation import NOISE, SEED, Array, NoiseShape, carry_out, noise

RULE = Rule(margin=0.005, risk=0.05, min_blocks=5, max_blocks=30)
TOGETHER = combine_rules(RULE, RULE, comparisons=2)


@dataclass(frozen=True)
class StudyModel:
    """One of the two studies: how its configurations differ, and how noisy it is, times 6 %."""

    difference: float = 0.0
    noise: float = 1.0


@dataclass(frozen=True)
class Claims:
    """Shares of pairs of studies with a difference claimed in any comparison.

    ``reported``: as `iostudy compare` reports it, which claims none where a study has a flag;
    ``any``: if flags were not looked at.
    """

    reported: float
    any: float


def claims(shape: NoiseShape, sides: tuple[StudyModel, StudyModel], pairs: int) -> Claims:
    """How often two studies of the same are said to differ."""
    draw = np.random.default_rng([SEED, 10, list(NoiseShape).index(shape)])
    studies = [_studies(shape, side, draw, pairs) for side in sides]
    found = [_claim(first, second, sides) for first, second in zip(*studies, strict=True)]
    wrong, clean = np.array(found).T
    return Claims(reported=float((wrong & clean).mean()), any=float(wrong.mean()))


def _studies(
    shape: NoiseShape, side: StudyModel, draw: np.random.Generator, studies: int
) -> list[tuple[Array, bool]]:
    """Log figures, blocks x configurations, as far as each study came; and whether it is clean."""
    trials = noise(shape, draw, studies, 2 * RULE.max_blocks)
    in_run_order = side.noise * NOISE * trials.reshape(studies, RULE.max_blocks, 2)
    groups = draw.permuted(np.broadcast_to([0, 1], in_run_order.shape), axis=2)
    figures = np.take_along_axis(in_run_order, groups.argsort(axis=2), axis=2)
    figures[:, :, 1] += side.difference
    blocks = carry_out(figures[:, :, 1] - figures[:, :, 0], RULE).blocks
    return [
        (figures[n, :last], not _flags(figures[n, :last], groups[n, :last]))
        for n, last in enumerate(blocks)
    ]


def _flags(figures: Array, groups: NDArray[np.int64]) -> bool:
    in_run_order = np.take_along_axis(figures, groups, axis=1)
    return bool(
        flag_figures(in_run_order.ravel(), groups.ravel(), FamilyOfTests(series=1, pairs=1))
    )


def _claim(
    first: tuple[Array, bool], second: tuple[Array, bool], sides: tuple[StudyModel, StudyModel]
) -> tuple[bool, bool]:
    """Whether any configuration is said to differ, and whether neither study has a flag."""
    shift = np.array([0.0, sides[0].difference - sides[1].difference])
    words = {
        compare(
            np.exp(first[0][:, own]).tolist(),
            np.exp(second[0][:, own] + shift[own]).tolist(),
            higher_is_better=True,
            rule=TOGETHER,
        ).verdict
        for own in (0, 1)
    }
    return bool(words & {Verdict.BETTER, Verdict.WORSE}), first[1] and second[1]
