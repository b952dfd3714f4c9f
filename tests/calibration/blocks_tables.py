"""Tables of docs/method/calibration.md on blocks to a verdict, and a fixed sample of 30."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from iostudy.analysis.rule import Rule
from iostudy.analysis.verdict import Verdict
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import NOISE, SEED, Array, NoiseShape, Outcomes, carry_out, noise
from tests.calibration.verdict_tables import STUDIES

RULE = Rule(margin=0.03, risk=0.05, min_blocks=5, max_blocks=30)
FIXED = replace(RULE, min_blocks=30)
"""The paired t test that is done once, after all blocks: its level is the whole risk."""

OF_A_PAIR = {"a pair": NOISE, "a trial": NOISE * math.sqrt(2)}
"""What 6 % may be the spread of -> the spread of a paired log-ratio."""


def ratios(spread: float, difference: float, studies: int) -> Array:
    """Normal paired log-ratios of configurations whose figures differ by a fraction."""
    draw = np.random.default_rng([SEED, 7])
    return spread * noise(NoiseShape.NORMAL, draw, studies, RULE.max_blocks) + math.log1p(
        difference
    )


def right(outcomes: Outcomes, difference: float) -> float:
    """The share of words that are true: below the margin a difference is equivalent, too."""
    words = [Verdict.BETTER] if difference > 0 else []
    words += [Verdict.EQUIVALENT] if difference < RULE.margin else []
    return outcomes.share(*words)


def wrong(outcomes: Outcomes, difference: float) -> float:
    """The share of words that are false about a difference of 0 or more."""
    words = [Verdict.WORSE] if difference > 0 else [Verdict.WORSE, Verdict.BETTER]
    words += [Verdict.EQUIVALENT, Verdict.NOT_BETTER] if difference >= RULE.margin else []
    return outcomes.share(*words)


def blocks_to_a_verdict() -> list[Row]:
    """How many blocks a verdict takes, and how often it is right."""
    heads = ("6 % is the sd of", "true difference", "blocks on average", "10 % to 90 % of studies")
    rows: list[Row] = [(*heads, "right", "not worse", "wrong", "right after 30 blocks, read once")]
    for name, spread in OF_A_PAIR.items():
        for difference in (0.0, 0.02, 0.03, 0.05, 0.10):
            drawn = ratios(spread, difference, STUDIES)
            rows.append((name, f"{100 * difference:.0f} %", *_verdict_columns(drawn, difference)))
    return rows


def _verdict_columns(drawn: Array, difference: float) -> Row:
    outcomes, fixed = carry_out(drawn, RULE), carry_out(drawn, FIXED)
    fewest, most = np.percentile(outcomes.blocks, [10, 90])
    return (
        f"{outcomes.blocks.mean():.1f}",
        f"{fewest:.0f} to {most:.0f}",
        percent(right(outcomes, difference)),
        percent(outcomes.share(Verdict.NOT_WORSE)),
        percent(wrong(outcomes, difference)),
        percent(right(fixed, difference)),
    )


TABLES = (blocks_to_a_verdict,)
