"""Two simulated studies that each stopped at their own verdict, compared with each other.

Each has a baseline and one other configuration, whose effect is the same in both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iostudy.analysis.decision import is_balanced
from iostudy.analysis.paired import PairedRuns
from iostudy.analysis.rule import Rule
from iostudy.analysis.unpaired import combine_rules, compare_effects
from iostudy.analysis.verdict import Verdict
from tests.calibration.simulation import NOISE, SEED, NoiseShape, carry_out, noise

RULE = Rule(margin=0.005, risk=0.05, min_blocks=5, max_blocks=30)
TOGETHER = combine_rules(RULE, RULE, comparisons=1)


@dataclass(frozen=True)
class StudyModel:
    """One of the two studies: the effect that its stop depends on, and its noise, times 6 %."""

    difference: float = 0.0
    noise: float = 1.0


def false_claims(shape: NoiseShape, sides: tuple[StudyModel, StudyModel], pairs: int) -> float:
    """How often equal effects are said to differ."""
    draw = np.random.default_rng([SEED, 10, list(NoiseShape).index(shape)])
    studies = [_studies(shape, side, draw, pairs) for side in sides]
    wrong = [
        compare_effects(*both, higher_is_better=True, rule=TOGETHER).verdict
        in (Verdict.BETTER, Verdict.WORSE)
        for both in zip(*studies, strict=True)
    ]
    return float(np.mean(wrong))


def _studies(
    shape: NoiseShape, side: StudyModel, draw: np.random.Generator, studies: int
) -> list[PairedRuns]:
    """The pairs of each study as far as it came, without its effect, which is that of both."""
    trials = noise(shape, draw, studies, 2 * RULE.max_blocks)
    in_run_order = side.noise * NOISE * trials.reshape(studies, RULE.max_blocks, 2)
    after = draw.random((studies, RULE.max_blocks)) < 0.5
    baseline = np.where(after, in_run_order[:, :, 0], in_run_order[:, :, 1])
    other = np.where(after, in_run_order[:, :, 1], in_run_order[:, :, 0])
    ratios = other - baseline + side.difference
    blocks = carry_out(ratios, RULE, ready=is_balanced(after)).blocks
    return [
        PairedRuns(baseline[n], other[n], after[n]).first(last) for n, last in enumerate(blocks)
    ]
